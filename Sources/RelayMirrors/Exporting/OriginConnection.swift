import RelayCore
import Synchronization
import RelayWire

/// A connection to the bus of an origin: who owns the origin's name, what it is asked, and that it has news.
final class OriginConnection: BusHandler {
    private struct State {
        var connection: BusConnection?
        var owner: String?
        var isOpen = true
        var live = LiveEvents()
        /// The one that brings the owner's events, in place of signals; nil: signals do.
        var ring: Int?
        /// Counts the rings.
        var rings = 0
        /// The owner's present ring, which outlives an attachment.
        var reader: OriginRing?
        /// The owner's wait page. Sealed, it cannot be mapped again.
        var waiter: RingWaiter?
        /// The owner's ring was damaged: signals are read from then on.
        var isDamaged = false
        /// A thread maps what an owner has handed out. One that holds its page for ever costs this one thread.
        var isMapping = false
    }
    private let state = Mutex(State())
    let service: String
    /// Whose signals are heard; nil: none.
    private let interface: String?
    /// Rings with each signal of the origin, each change of its owner, and the connection's end.
    let bell: Bell
    private let timing: ExporterTiming

    private init(_ service: String, _ interface: String?, _ bell: Bell, _ timing: ExporterTiming) {
        (self.service, self.interface, self.bell, self.timing) = (service, interface, bell, timing)
    }
    /// - Parameter interface: whose signals ring the bell; nil: none.
    static func open(
        _ bus: Bus, on loop: BusLoop, service: String, interface: String?, _ bell: Bell, _ timing: ExporterTiming
    ) async throws(RelayError) -> OriginConnection {
        let origin = OriginConnection(service, interface, bell, timing)
        do {
            let connection = try await BusConnection.connect(to: bus, on: loop, handler: origin)
            origin.state.withLock { $0.connection = connection }
            var rules = [MatchRule.owner(of: service)]
            if let interface {
                let path = Stream1.path(of: interface)
                rules += [interface, Stream1.name].map { MatchRule(sender: service, path: path, interface: $0) }
            }
            for rule in rules {
                _ = try await withCheckedThrowingContinuation { continuation in
                    connection.addMatch(rule) { continuation.resume(with: $0) }
                }
            }
            await origin.askOwner()
            return origin
        } catch { throw RelayError(asking: "the bus", error) }
    }
    deinit { state.withLock { $0.connection }?.close() }

    /// The unique name of the origin; nil: it is not there.
    var owner: String? { state.withLock { $0.owner } }
    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// An announcement may have been lost.
    func askOwner() async {
        guard let connection = state.withLock({ $0.connection }) else { return }
        await withCheckedContinuation { continuation in
            connection.askOwner(of: service) { [weak self] ownership in
                switch ownership {
                case .owner(let name): self?.learn(name)
                case .nobody: self?.learn(nil)
                case .unknown: break
                }
                continuation.resume()
            }
        }
    }
    private func learn(_ owner: String?) {
        let isNew = state.withLock { state in
            defer { state.owner = owner }
            if state.owner == owner { return false }
            state.live.ask()
            (state.ring, state.reader, state.waiter, state.isDamaged) = (nil, nil, nil, false)
            return true
        }
        if isNew { bell.ring() }
    }

    // MARK: Live events

    /// What the present owner's signals have brought behind a sequence.
    func live(after sequence: UInt64) -> LiveEvents.News { state.withLock { $0.live.take(after: sequence) } }
    /// The last sequence that signals have brought; 0: none has.
    var liveHead: UInt64 { state.withLock { $0.live.head } }
    /// A signal may have been lost.
    func doubtLive() { state.withLock { $0.live.ask() } }

    // MARK: The ring

    enum RingState {
        case none, damaged
        case present(OriginRing)
    }
    /// What there is of the owner's ring.
    var ringState: RingState {
        state.withLock { state in
            if state.isDamaged { return .damaged }
            guard let reader = state.reader, state.ring == reader.number else { return .none }
            return .present(reader)
        }
    }
    func keep(_ reader: OriginRing) {
        state.withLock { state in if state.ring == reader.number { state.reader = reader } }
    }
    /// False: a thread does already.
    func beginMapping() -> Bool {
        state.withLock { state in
            defer { state.isMapping = true }
            return !state.isMapping
        }
    }
    func endMapping() { state.withLock { $0.isMapping = false } }
    /// The wait page of an owner, if it was mapped before.
    func waiter(of sender: String) -> RingWaiter? {
        state.withLock { $0.owner == sender ? $0.waiter : nil }
    }
    /// Events come by a ring from now on. Returns its number; nil: its sender is not the owner any more.
    func beginRing(of sender: String, sleepingOn waiter: RingWaiter) -> Int? {
        state.withLock { state in
            guard state.owner == sender else { return nil }
            state.rings += 1
            (state.ring, state.waiter) = (state.rings, waiter)
            return state.rings
        }
    }
    func reads(ring number: Int) -> Bool { state.withLock { $0.ring == number } }
    /// An event that a ring has brought.
    func bring(_ name: String, _ body: [UInt8], by number: Int) {
        state.withLock { state in
            guard state.ring == number else { return }
            body.withUnsafeBytes { state.live.add(name, $0) }
        }
    }
    /// Signals bring events again, once the origin was attached to anew.
    func endRing(_ number: Int, isDamaged: Bool) {
        state.withLock { state in
            guard state.ring == number else { return }
            (state.ring, state.isDamaged) = (nil, isDamaged)
            state.live.ask()
        }
        bell.ring()
    }
    /// The origin's ring and its wait page, with each call the same.
    func openRing(at path: String) async throws(RelayError) -> BusReply { try await call("OpenRing", at: path) }
    /// This exporter reads no ring: the origin is to send signals.
    func closeRing(at path: String) async {
        do throws(RelayError) { _ = try await call("CloseRing", at: path) } catch {
            // What does not come is looked for in the journal.
        }
    }

    // MARK: Asking

    /// Whether the bus takes descriptors from it.
    var passesDescriptors: Bool { state.withLock { $0.connection }?.canPassDescriptors ?? false }

    /// Asks the origin, by a method of `Stream1`, and reads its answer.
    ///
    /// - Parameter answer: its signature.
    func ask<Answer>(
        _ method: String, at path: String, _ signature: String = "", returning answer: String,
        passing descriptors: [ReceivedDescriptor] = [], arguments: (inout WireWriter) throws -> Void = { _ in },
        _ read: (inout WireReader) throws -> Answer
    ) async throws(RelayError) -> Answer {
        do {
            return try await call(method, at: path, signature, passing: descriptors, arguments: arguments)
                .read(answer, read)
        } catch { throw RelayError(asking: service, error) }
    }
    private func call(
        _ method: String, at path: String, _ signature: String = "", passing descriptors: [ReceivedDescriptor] = [],
        arguments: (inout WireWriter) throws -> Void = { _ in }
    ) async throws(RelayError) -> BusReply {
        let (connection, owner) = state.withLock { ($0.connection, $0.owner) }
        guard let connection, let owner else {
            throw RelayError(.unavailable, "\(service) is not on the bus: its events are exported when it runs")
        }
        do {
            var body = WireWriter()
            try arguments(&body)
            var call = MethodCall(
                to: owner, path: path, interface: Stream1.name, member: method, signature: try Signature(signature),
                body: body.takeBytes(), flags: .noAutoStart)
            call.descriptors = descriptors
            call.isConfirmed = Stream1.confirmed.contains(method)
            return try await connection.call(call, timeout: timing.answer)
        } catch { throw RelayError(asking: service, error) }
    }
    /// Reads a page that the origin has sent beside the bus.
    func read<Answer>(
        page body: [UInt8], _ read: (inout WireReader) throws -> Answer
    ) throws(RelayError) -> Answer {
        try BusReply(sender: owner ?? service, signature: Stream1.pageSignature, body: body).read(
            Stream1.pageSignature, read)
    }
    /// Owns a name as long as this connection lives.
    func own(_ name: String) async throws(RelayError) -> Bool {
        guard let connection = state.withLock({ $0.connection }) else { return false }
        do {
            var body = WireWriter()
            try body.string(name)
            // DBUS_NAME_FLAG_DO_NOT_QUEUE.
            body.uint32(4)
            let answer = try await connection.call(.toBus("RequestName", try Signature("su"), body: body.takeBytes()))
            // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER.
            return try answer.read("u") { try $0.uint32() } == 1
        } catch { throw RelayError(asking: "the bus", error) }
    }

    // MARK: What comes

    func signal(_ message: borrowing ReceivedMessage) {
        if let change = OwnerChange(message), change.name == service { return learn(change.newOwner) }
        let isOfOrigin = state.withLock { state in
            guard let owner = state.owner, message.hasSender(owner) else { return false }
            if let interface, message.hasInterface(interface), !message.isOversized {
                // It is in the ring already, and is for others.
                if state.ring != nil { return false }
                message.withBody { state.live.add(message.member ?? "", $0) }
            } else {
                state.live.ask()
            }
            return true
        }
        if isOfOrigin { wakeHere() }
    }
    /// What the exporter does with an event, it does on the thread that brought the event, which has nothing else to do: to
    /// wake another one would take as long as a good part of that. Should it take long, the loop goes on without it.
    private func wakeHere() {
        guard let loop = state.withLock({ $0.connection })?.loop, loop.canLend else { return bell.ring() }
        let threads = HandlerThreads.own
        guard let job = threads.takingJob({ bell.ring() }) else { return }
        loop.lend(
            LentJob {
                threads.run(job)
            } orElse: {
                threads.enqueue(job)
            })
    }
    func methodCall(_ call: IncomingCall) {
        call.connection.fail(call, ErrorNames.unknownMethod, "an exporter has no methods")
    }
    func replyReceived(from sender: String, serial: UInt32) {
        state.withLock { $0.connection }?.sendReceived(serial, to: sender)
    }
    func disconnected(_ reason: RelayError) {
        state.withLock { ($0.isOpen, $0.owner) = (false, nil) }
        bell.ring()
    }
}
extension RelayError {
    /// What went wrong with a question, as an error of the library.
    init(asking whom: String, _ error: any Error) {
        self = error as? RelayError ?? RelayError(.internalFailure, "\(whom) cannot be asked: \(error)", cause: error)
    }
}
