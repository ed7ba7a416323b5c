import Synchronization

/// The backend: owns a bus name, exports interfaces, answers commands, publishes.
///
/// - Order: the events of one interface reach the bus in the order of `publish`, whatever threads publish.
/// - Isolation: a handler runs on the actor that it is written on, else on the cooperative pool. Calls of one peer run in
///   order, those of different peers at the same time.
/// - Loss: what the bus does not take in time has its place in the sequence, so that subscribers see the gap.
/// - Cancellation: cancelling the task of `run()` finishes what runs, within its patience, and releases the name.
public final class EventService: Sendable {
    public let name: String
    private let interfaces: [ExportedInterface]
    private let events: ExportedEvents
    private let storage: (any EventLogStorage)?
    private let commands: [ObjectIdentifier: AnyExportedCommand]
    let core: ServiceCore
    private let strays = Mutex<[String]>([])
    private let hasRun = Atomic<Bool>(false)

    /// Prepares a service; nothing is on the bus before `run()`.
    ///
    /// - Parameters:
    ///   - journal: keeps the events of the durable interfaces. From here on its units of work can publish events of
    ///     this service. A journal serves one service, once.
    ///   - onNotice: is called with what goes wrong while the service runs: refused peers, signals that are paused for long, and so
    ///     on (see `Notice.Kind`). Calls are few, one at a time, on a thread of their own: it may write to a log that blocks.
    /// - Throws: `UnsupportedType` with type, field and reason for what D-Bus cannot carry, at this point and not at the first
    ///   publish; `InvalidArgument` for a bad or doubled name, and for a durable interface without a journal; `Conflict` for a
    ///   journal that has served already; what the journal throws.
    public init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type...,
        journal: (any EventLog)? = nil, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try BusNames.check(name, as: .busName)
        if name.hasPrefix(":") {
            throw RelayError(.invalidArgument, "'\(name)' is a connection's name; a service needs a well-known one")
        }
        var served: [ExportedInterface] = []
        for interface in interfaces {
            let logIndex = journal == nil ? nil : served.count { $0.logged != nil }
            served.append(try ExportedInterface(interface, number: served.count, logIndex: logIndex))
        }
        if Set(served.map(\.name)).count != served.count {
            throw RelayError(.invalidArgument, "an interface is exported twice: \(served.map(\.name))")
        }
        let events = ExportedEvents(name, served)
        let loop = try BusLoop(name: "service")
        let storage = journal?.access.storage
        if let storage {
            // Last: it cannot be taken back.
            let runs = try storage.open(served.compactMap(\.logged), encoder: events)
            let durable = served.indices.filter { served[$0].logged != nil }
            for (index, run) in zip(durable, runs) { try served[index].begin(run, in: storage) }
        }
        (self.name, self.events, self.storage) = (name, events, storage)
        self.interfaces = served
        commands = served.reduce(into: [:]) { all, one in all.merge(one.commandsByType) { first, _ in first } }
        core = ServiceCore(name, bus, served, loop, NoticeReporter(onNotice))
        storage?.onFailure { [weak core] reason in core?.logFailed(reason) }
    }

    /// Answers a command. The last handler given counts.
    ///
    /// An error of the command's `Failure` reaches the caller as itself, a `RelayError` as its code, any other as `Internal`.
    /// `InvalidArgument`, `NotPermitted`, `NotFound`, `Conflict`, `Unavailable`, `StorageFull` and `LimitsExceeded` tell the
    /// caller that nothing was done.
    @_disfavoredOverload  // A closure that returns nothing, or only throws, fits the other one better.
    public func handle<C: Command>(
        _ type: C.Type,
        @_inheritActorContext with handler:
            @escaping @isolated(any) @Sendable (C, CommandContext) async throws -> C.Reply
    ) {
        setHandler(type) { command, context in try await handler(command, context) }
    }
    /// Answers a command that has no reply.
    public func handle<C: Command>(
        _ type: C.Type,
        @_inheritActorContext with handler: @escaping @isolated(any) @Sendable (C, CommandContext) async throws -> Void
    ) where C.Reply == NoReply {
        setHandler(type) { command, context in
            try await handler(command, context)
            return NoReply()
        }
    }
    private func setHandler<C: Command>(_ type: C.Type, _ handler: @escaping ExportedCommand<C>.Handler) {
        if let command = commands[ObjectIdentifier(type)] as? ExportedCommand<C> {
            command.setHandler(handler)
        } else {
            strays.withLock { $0.append("\(C.Interface.name).\(C.name)") }
        }
    }

    /// Publishes at once. From any thread; does not wait for the bus. Only events of volatile interfaces: a durable one has to
    /// be committed.
    ///
    /// - Throws: `NotFound` for an event of an interface that is not exported, `InvalidArgument` for a value that D-Bus cannot
    ///   carry (a NUL in a string), `TooLarge` over 1 MiB or over a quarter of the interface's `ringCapacity`, `Unavailable` once
    ///   `run()` has said that nothing more comes. Nothing was published then.
    @inlinable public func publish<E: DomainEvent>(_ event: E) throws where E.Interface.Durability == Volatile {
        // The pointer is used only during the call.
        let isDone = try withUnsafePointer(to: event) {
            try publishIntoRing(UnsafeRawPointer($0), ObjectIdentifier(E.self))
        }
        if !isDone { try publishByType(event) }
    }
    /// Without the type, because generic code that is not specialised looks metadata up at every turn: a value whose own bytes are
    /// all that is published. Returns false for any other, with nothing done.
    @usableFromInline func publishIntoRing(_ value: UnsafeRawPointer, _ type: ObjectIdentifier) throws -> Bool {
        try events.publishIntoRing(value, type)
    }
    @usableFromInline func publishByType<E: DomainEvent>(_ event: E) throws { try events.publish(event) }
    /// Publishes in a transaction of its own, and returns when the event is durable and on its way. To commit it together with
    /// a change of state, publish within a unit of work of the journal.
    ///
    /// - Order: as committed: of two publishes of which one returned before the other began, it is theirs.
    /// - Isolation: from any actor, which is not kept from other work. With an `EventJournal`, a thread of the cooperative pool
    ///   commits, and waits for the disk then: one of them at a time, where there are several.
    /// - Cancellation: does not take the event back.
    /// - Throws: `NotFound` for an event of an interface that is not exported, `InvalidArgument` for a value that D-Bus cannot
    ///   carry (a NUL in a string), `TooLarge` over 1 MiB; `StorageFull` or `Unavailable` from the journal: nothing was
    ///   published then. `OutcomeUnknown` when the commit failed in a way that leaves that open: the service ends, and when it
    ///   has started again the journal tells.
    public nonisolated(nonsending) func publish<E: DomainEvent>(_ event: E) async throws
    where E.Interface.Durability == Durable {
        try await log.commit(events.encode(event))
    }
    /// Publishes all of them in one transaction, in their order, or none. As `publish`, otherwise.
    public nonisolated(nonsending) func publish<E: DomainEvent>(contentsOf events: some Sequence<E>) async throws
    where E.Interface.Durability == Durable {
        var encoded: [EncodedEvent] = []
        encoded.reserveCapacity(events.underestimatedCount)
        for event in events { encoded.append(try self.events.encode(event)) }
        if !encoded.isEmpty { try await log.commit(encoded) }
    }
    private var log: any EventLogStorage {
        get throws {
            if let storage { return storage }
            throw RelayError(.internalFailure, "\(name) has a durable event and no journal")
        }
    }

    /// Serves until the task is cancelled, then finishes what runs and releases the name. Once only.
    ///
    /// - Parameters:
    ///   - patience: how long, after the cancellation, commands may still run. Past it those that wait are refused with
    ///     `Unavailable`, and the handlers that run are cancelled (`Task.isCancelled`); after one more second the service
    ///     ends without them: they can neither answer nor publish any more, and their callers get `Unavailable` from the bus.
    ///   - onReady: is called when the name is taken.
    /// - Throws: `NotFound` at once when a command of an exported interface has no handler, or a handler no exported command;
    ///   `Conflict` when somebody else has the name; `NotPermitted` when the bus's policy forbids it; `Unavailable` when there
    ///   is no bus, or when it goes away; when the journal has failed for good, its reason (`OutcomeUnknown` if a commit's
    ///   outcome is open), after the replies under way.
    public func run(patience: Duration = .seconds(10), onReady: @Sendable () -> Void = {}) async throws {
        try checkHandlers()
        if hasRun.exchange(true, ordering: .acquiringAndReleasing) {
            throw RelayError(.invalidArgument, "\(name) has been run already: make another EventService")
        }
        // A handler may well keep this service, which keeps it.
        defer { for command in commands.values { command.removeHandler() } }
        // A journal that has failed before: the name is not worth taking.
        if let reason = core.endReason { throw reason }
        do {
            try await core.start()
        } catch {
            // Told to end before it had begun: that is no failure.
            if Task.isCancelled, (error as? RelayError)?.code == .cancelled { return }
            throw error
        }
        onReady()
        let reason = await core.untilEnd()
        // In a task of its own: this one is cancelled, which would cut the leave-taking short, and lose what still waits.
        await Task.detached { [core] in await core.stop(patience: patience) }.value
        if let reason { throw reason }
    }

    private func checkHandlers() throws(RelayError) {
        for interface in interfaces {
            for command in interface.commands.values where !command.hasHandler {
                throw RelayError(
                    .notFound,
                    "no handler for \(interface.name).\(command.name): call handle(\(command.name).self) before run()")
            }
        }
        if let stray = strays.withLock({ $0.first }) {
            throw RelayError(.notFound, "a handler for \(stray), which \(name) does not export: add its interface")
        }
    }
}
