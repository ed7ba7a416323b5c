import Synchronization

/// The service's side: owns a bus name, exports interfaces, answers commands, publishes events.
///
/// ```swift
/// let journal = try EventJournal(directory: "/var/lib/printer")
/// let service = try EventService(name: "org.example.Printer", exporting: Printing1.self, journal: journal)
/// service.handle(PrintJob.self) { job, _ in PrintJob.Reply(jobID: try await print(job)) }
/// try await service.run()
/// ```
///
/// - Order: the events of one interface reach the bus in the order of `publish`, whatever threads publish.
/// - Isolation: a handler runs on the actor that it is written on, else on the cooperative pool. The calls of one peer
///   run one after the other, those of different peers at the same time.
/// - Loss: an event that the bus does not accept in time keeps its sequence, so that subscribers see the gap.
/// - Cancellation: cancelling the task of ``run(patience:onReady:)`` finishes what runs, within its patience, and
///   releases the name.
public final class EventService: Sendable {
    /// The bus name.
    public let name: String
    private let interfaces: [ExportedInterface]
    private let events: ExportedEvents
    private let storage: (any EventLogStorage)?
    private let commands: [ObjectIdentifier: AnyExportedCommand]
    let core: ServiceCore
    private let strays = Mutex<[String]>([])
    private let hasRun = Atomic<Bool>(false)

    /// Prepares a service. Nothing is on the bus before ``run(patience:onReady:)``.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter journal: keeps the events of durable interfaces. From here on its units of work can publish events
    ///   of this service. A journal serves one service, once.
    /// - Parameter onNotice: is called with what goes wrong while the service runs: see ``Notice/Kind``. Calls are few,
    ///   one at a time, on a thread of their own; it may write to a log that blocks.
    /// - Throws: `.unsupportedType` with type, field and reason for what D-Bus cannot carry. `.invalidArgument` for a
    ///   bad or repeated name, and for a durable interface without a journal. `.conflict` for a journal that has served
    ///   already. Whatever the journal throws.
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

    /// Answers a command. The last handler counts.
    ///
    /// An error of the command's `Failure` reaches the caller as itself, a ``RelayError`` as its code, any other error
    /// as `.internalFailure`. `.invalidArgument`, `.notPermitted`, `.notFound`, `.conflict`, `.unavailable`,
    /// `.storageFull` and `.limitsExceeded` tell the caller that nothing was done.
    ///
    /// - Parameter type: the command.
    /// - Parameter handler: is called with each request, and returns the reply.
    @_disfavoredOverload  // A closure that returns nothing, or only throws, fits the other one better.
    public func handle<C: Command>(
        _ type: C.Type,
        @_inheritActorContext with handler:
            @escaping @isolated(any) @Sendable (C, CommandContext) async throws -> C.Reply
    ) {
        setHandler(type) { command, context in try await handler(command, context) }
    }
    /// Answers a command without a reply. The last handler counts. Errors as above.
    ///
    /// - Parameter type: the command.
    /// - Parameter handler: is called with each request.
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

    /// Publishes an event of a volatile interface at once. From any thread; never waits for the bus.
    ///
    /// - Parameter event: the event.
    /// - Throws: `.notFound` for an event of an interface that is not exported. `.invalidArgument` for a value that
    ///   D-Bus cannot carry (a NUL in a string). `.tooLarge` over 1 MiB, or over a quarter of the interface's
    ///   ``EventInterface/ringCapacity``. `.unavailable` after the end of ``run(patience:onReady:)``. Nothing was
    ///   published then.
    @inlinable public func publish<E: DomainEvent>(_ event: E) throws where E.Interface.Durability == Volatile {
        // The pointer is used only during the call.
        let isDone = try withUnsafePointer(to: event) {
            try publishBytes(UnsafeRawPointer($0), ObjectIdentifier(E.self))
        }
        if !isDone { try publishByType(event) }
    }
    /// Without the type, because generic code that is not specialised looks metadata up at every turn: a value whose
    /// own bytes are all that is published. Returns false for any other, with nothing done.
    @usableFromInline func publishBytes(_ value: UnsafeRawPointer, _ type: ObjectIdentifier) throws -> Bool {
        try events.publishBytes(value, type)
    }
    @usableFromInline func publishByType<E: DomainEvent>(_ event: E) throws { try events.publish(event) }
    /// Publishes an event of a durable interface in a transaction of its own. Returns when it is durable and on its
    /// way.
    ///
    /// To commit an event together with a change of state, publish it within a unit of work of the journal.
    ///
    /// - Order: as committed. Of two publishes of which one returned before the other began, it is theirs.
    /// - Isolation: from any actor, which can do other work meanwhile. With an `EventJournal`, a thread of the
    ///   cooperative pool commits and waits for the disk: one at a time in the process, where there are several.
    /// - Cancellation: does not withdraw the event.
    /// - Parameter event: the event.
    /// - Throws: `.notFound` for an event of an interface that is not exported. `.invalidArgument` for a value that
    ///   D-Bus cannot carry (a NUL in a string). `.tooLarge` over 1 MiB. `.storageFull` or `.unavailable` from the
    ///   journal. Nothing was published then. `.outcomeUnknown` if the commit failed in a way that leaves that open:
    ///   the service ends, and the journal of its next run decides.
    public nonisolated(nonsending) func publish<E: DomainEvent>(_ event: E) async throws
    where E.Interface.Durability == Durable {
        try await log.commit(events.encode(event))
    }
    /// Publishes events of a durable interface in one transaction, in their order: all of them, or none.
    ///
    /// - Parameter events: the events.
    /// - Throws: as ``publish(_:)``.
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

    /// Exports the interfaces until the task is cancelled; then finishes what runs, and releases the name. Once only.
    ///
    /// - Parameter patience: how long commands may run after the cancellation. Then those that wait are refused with
    ///   `.unavailable`, and running handlers are cancelled (`Task.isCancelled`). After one more second the service
    ///   ends without them: they can neither reply nor publish, and their callers get `.unavailable` from the bus.
    /// - Parameter onReady: is called when the service owns the name.
    /// - Throws: `.notFound` at once if a command of an exported interface has no handler, or a handler no exported
    ///   command. `.conflict` if another process owns the name. `.notPermitted` if the bus's policy forbids it.
    ///   `.unavailable` if there is no bus, or it goes away. If the journal has failed for good, its reason
    ///   (`.outcomeUnknown` if a commit's outcome is open), after the replies under way.
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
        // In a task of its own: this one is cancelled, which would cut the leave-taking short, and lose what still
        // waits.
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
