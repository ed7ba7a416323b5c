package import RelayCore
import Synchronization

/// A `MemoryLog` as its service uses it, with the switches for what tests want to go wrong.
package final class MemoryLogStorage: EventLogStorage {
    private struct State {
        var interfaces: [LoggedInterface] = []
        var encoder: (any EventEncoder)?
        var isOpen = false
        var failure: RelayError?
        var listeners: [@Sendable (RelayError) -> Void] = []
        /// What the next commit fails with, and whether it is done all the same.
        var fault: (error: RelayError, isCommitted: Bool)?
        /// What every reading fails with.
        var readFault: RelayError?
        /// What was committed and is kept from being emitted; nil when nothing is.
        var held: [@Sendable () -> Void]?
    }
    let store: MemoryLogStore
    private let state = Mutex(State())
    /// The committing thread and the reading one, made when a service opens the log.
    private let loops = Mutex<(writer: BusLoop, reader: BusLoop)?>(nil)

    init(_ store: MemoryLogStore) { self.store = store }

    package func open(_ interfaces: [LoggedInterface], encoder: any EventEncoder) throws -> [LogSnapshot] {
        let isFirst = state.withLock { state in
            defer { state.isOpen = true }
            return !state.isOpen && state.failure == nil
        }
        if !isFirst { throw RelayError(.conflict, "this log has served already: take reopened()") }
        let new = (writer: try BusLoop(name: "log"), reader: try BusLoop(name: "log-reader"))
        loops.withLock { $0 = new }
        state.withLock { ($0.interfaces, $0.encoder) = (interfaces, encoder) }
        return store.change { streams in interfaces.map { streams[$0.name, default: MemoryStream()].begin($0) } }
    }
    package func commit(_ event: EncodedEvent) async throws { try await commit([event]) }
    package func commit(_ events: [EncodedEvent]) async throws {
        guard let writer = loops.withLock({ $0?.writer }) else { throw Self.closed }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            writer.execute { [self] in
                do {
                    let emission = try commitNow(events)
                    emitNow {
                        emission()
                        continuation.resume()
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
    package func perform<Result: Sendable>(
        _ body: @escaping @Sendable (any LogUnit) throws -> Result
    ) async throws -> Result {
        guard let writer = loops.withLock({ $0?.writer }) else { throw Self.closed }
        return try await withCheckedThrowingContinuation { (done: CheckedContinuation<Result, any Error>) in
            writer.execute { [self] in
                do {
                    let unit = MemoryUnit(store, state.withLock { $0.interfaces.map(\.name) })
                    let result = try body(unit)
                    let emission = try unit.events.isEmpty ? nil : commitNow(unit.events)
                    // Nobody else reads them before the next transaction, on this thread.
                    for (call, reply) in unit.replies { store.keep(reply, to: call) }
                    emitNow {
                        emission?()
                        done.resume(returning: result)
                    }
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
    }
    package func answer<C: Command>(
        _ command: C.Type, _ call: KeyedCall?, _ body: @escaping @Sendable (any LogUnit) throws -> C.Reply
    ) async throws -> C.Reply {
        try await perform { unit in
            guard let call, let memory = unit as? MemoryUnit else { return try body(unit) }
            if let known = try memory.store.reply(to: call, as: C.Reply.self) { return known }
            let reply = try body(unit)
            memory.replies.append((call, reply))
            return reply
        }
    }
    private static var closed: RelayError { RelayError(.unavailable, "this log is closed") }

    /// On the committing thread. What is to be done when the commit is over: the emission.
    private func commitNow(_ events: [EncodedEvent]) throws -> @Sendable () -> Void {
        let (failure, fault, interfaces) = state.withLock { state in
            defer { state.fault = nil }
            return (state.failure, state.fault, state.interfaces)
        }
        if let failure { throw RelayError(.unavailable, "the log has failed: \(failure.message)") }
        if let fault, !fault.isCommitted {
            fail(fault.error)
            throw fault.error
        }
        let steps = store.change { streams in
            events.flatMap(\.parts).map { event -> @Sendable () -> Void in
                switch event {
                case .several: return {}
                case .volatile(let publish): return publish
                case .durable(let interface, let event):
                    let logged = interfaces[interface]
                    let committed = streams[logged.name, default: MemoryStream()].append(
                        event, at: logged.clock?.timestamp ?? .now)
                    return { logged.stream.emit([committed]) }
                }
            }
        }
        if let fault {
            fail(fault.error)
            throw fault.error
        }
        return { for step in steps { step() } }
    }
    private func emitNow(_ emission: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            state.held?.append(emission)
            return state.held != nil
        }
        if !isHeld { emission() }
    }
    private func fail(_ error: RelayError) {
        guard error.code == .outcomeUnknown else { return }
        let listeners = state.withLock { state in
            state.failure = error
            return state.listeners
        }
        for listener in listeners { listener(error) }
    }
    package func read(_ request: LogRequest, completion: @escaping @Sendable (Result<LogPage, RelayError>) -> Void) {
        guard let reader = loops.withLock({ $0?.reader }) else { return completion(.failure(Self.closed)) }
        reader.execute { [self] in
            if let fault = state.withLock({ $0.readFault }) { return completion(.failure(fault)) }
            completion(.success(store.stream(request.interface).page(request)))
        }
    }
    package func find(
        _ question: RunQuestion, in interface: String,
        completion: @escaping @Sendable (Result<CommonRun?, RelayError>) -> Void
    ) {
        guard let reader = loops.withLock({ $0?.reader }) else { return completion(.failure(Self.closed)) }
        reader.execute { [self] in
            if let fault = state.withLock({ $0.readFault }) { return completion(.failure(fault)) }
            completion(.success(store.stream(interface).common(question)))
        }
    }
    package func runs(
        after epoch: UInt64, atMost limit: Int, in interface: String,
        completion: @escaping @Sendable (Result<[StreamRun]?, RelayError>) -> Void
    ) {
        guard let reader = loops.withLock({ $0?.reader }) else { return completion(.failure(Self.closed)) }
        reader.execute { [self] in
            if let fault = state.withLock({ $0.readFault }) { return completion(.failure(fault)) }
            let runs = store.stream(interface).runs
            let start = epoch == 0 ? 0 : runs.lastIndex { $0.epoch == epoch }.map { $0 + 1 }
            completion(.success(start.map { Array(runs[$0...].prefix(limit)) }))
        }
    }
    package func figures(of interface: String) async throws -> [(name: String, value: UInt64)] {
        [("events", UInt64(store.stream(interface).count))]
    }
    package func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) {
        let failure = state.withLock { state in
            state.listeners.append(body)
            return state.failure
        }
        if let failure { body(failure) }
    }
    func close() {
        let old = loops.withLock { loops in
            defer { loops = nil }
            return loops
        }
        state.withLock { $0.isOpen = true }
        old?.writer.stop()
        old?.reader.stop()
    }

    /// How the service's events are encoded: for what a unit of work would commit.
    package var encoder: (any EventEncoder)? { state.withLock { $0.encoder } }

    // MARK: Switches

    /// Keeps what is committed from now on from being emitted, as a committing thread that comes to nothing.
    package func holdEmission() { state.withLock { $0.held = $0.held ?? [] } }
    package func releaseEmission() {
        guard let writer = loops.withLock({ $0?.writer }) else { return }
        writer.execute { [self] in
            let held = state.withLock { state in
                defer { state.held = nil }
                return state.held ?? []
            }
            for emission in held { emission() }
        }
    }
    /// The next commit fails; with `OutcomeUnknown` the log has failed for good.
    package func failNext(_ error: RelayError, isCommitted: Bool = false) {
        state.withLock { $0.fault = (error, isCommitted) }
    }
    /// Pages and runs cannot be read from now on; nil: they can again.
    package func failReading(_ error: RelayError?) { state.withLock { $0.readFault = error } }
    /// Removes an interface's events up to a sequence.
    package func prune(_ interface: String, through sequence: UInt64) {
        let pruned = store.change { $0[interface]?.prune(through: sequence) ?? [:] }
        for logged in state.withLock({ $0.interfaces }) where logged.name == interface { logged.stream.pruned(pruned) }
    }
    /// The last sequence that was committed.
    package func head(of interface: String) -> UInt64 { store.stream(interface).head }
}

/// What a transaction commits. On the committing thread.
private final class MemoryUnit: LogUnit {
    let store: MemoryLogStore
    private let interfaces: [String]
    private(set) var events: [EncodedEvent] = []
    var replies: [(call: KeyedCall, reply: any Sendable)] = []
    var drafts = DocumentDrafts()

    init(_ store: MemoryLogStore, _ interfaces: [String]) { (self.store, self.interfaces) = (store, interfaces) }

    func publish(_ event: EncodedEvent) throws -> UInt64? {
        defer { events.append(event) }
        guard case .durable(let interface, _) = event else { return nil }
        let before = events.count { if case .durable(interface, _) = $0 { true } else { false } }
        return store.stream(interfaces[interface]).head + UInt64(before) + 1
    }
    func find(_ question: RunQuestion, in interface: String) -> CommonRun? { store.stream(interface).common(question) }
    func forgotten(_ command: String, of interface: String) -> UInt64 { store.forgotten(command, of: interface) }
}
