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
/// ``run()`` serves until its task is cancelled, as swift-service-lifecycle expects of a service. A program that is
/// only a service can be a ``RelayProgram``. ``start()`` and ``stop(patience:)`` are for code that does something else
/// meanwhile.
///
/// - Order: the events of one interface reach the bus in the order of `publish`, whatever threads publish.
/// - Isolation: a handler runs on the actor that it is written on, else on the cooperative pool. The calls of one peer
///   run one after the other, those of different peers at the same time.
/// - Loss: an event that the bus does not accept in time keeps its sequence, so that subscribers see the gap.
/// - Cancellation: cancelling the task of ``run()`` finishes what runs, within its patience, and releases the name.
public final class EventService: Sendable {
    /// The bus name.
    public let name: String
    let interfaces: [ExportedInterface]
    let events: ExportedEvents
    let storage: (any EventLogStorage)?
    let commands: [ObjectIdentifier: AnyExportedCommand]
    let core: ServiceCore
    /// Handlers of commands that are not exported.
    let strays = Mutex<[String]>([])
    let life = ServiceLife()

    /// Prepares a service of volatile interfaces. Nothing is on the bus before ``start()`` or ``run()``.
    ///
    /// For durable interfaces, RelayJournal has an initialiser with a `journal:`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with what goes wrong while the service runs: see ``Notice/Kind``. Calls are few,
    ///   one at a time, on a thread of their own, so it may write to a log that blocks.
    /// - Throws: `.unsupportedType` with type, field and reason for what D-Bus cannot carry. `.invalidArgument` for a
    ///   bad or repeated name, and for a durable interface.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type...,
        admitting admitted: PeerRequirement = .anyone, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(name: name, on: bus, exporting: interfaces, admitting: admitted, onNotice: onNotice)
    }
    /// Prepares a service of volatile interfaces that are chosen at run time.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with what goes wrong while the service runs: see ``Notice/Kind``.
    /// - Throws: as the initialiser that takes single interfaces.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: [any EventInterface.Type],
        admitting admitted: PeerRequirement = .anyone, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws {
        try self.init(name, bus, interfaces, journal: nil, admitting: admitted, onNotice)
    }
    /// With a log for the events of durable interfaces.
    ///
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    package init(
        _ name: String, _ bus: Bus, _ interfaces: [any EventInterface.Type], journal: (any EventLog)?,
        admitting admitted: PeerRequirement = .anyone, _ onNotice: @escaping @Sendable (Notice) -> Void
    ) throws {
        try BusNames.check(name, as: .busName)
        if name.hasPrefix(":") {
            throw RelayError(.invalidArgument, "'\(name)' is a connection's name; a service needs a well-known one")
        }
        var served: [ExportedInterface] = []
        for interface in interfaces {
            let logIndex = journal == nil ? nil : served.count { $0.logged != nil }
            served.append(
                try ExportedInterface(
                    interface, number: served.count, logIndex: logIndex, admitting: admitted, on: bus))
        }
        if Set(served.map(\.name)).count != served.count {
            throw RelayError(.invalidArgument, "an interface is exported twice: \(served.map(\.name))")
        }
        let events = ExportedEvents(name, served)
        let loop = try BusLoop(name: "service", clock: bus.clock)
        let storage = journal?.access.storage
        if let storage {
            // Last: it cannot be taken back.
            let runs = try storage.open(served.compactMap(\.logged), encoder: events)
            let durable = served.indices.filter { served[$0].logged != nil }
            for (index, run) in zip(durable, runs) { try served[index].begin(run, in: storage) }
        }
        for interface in served where interface.log == nil { try interface.beginDocuments() }
        (self.name, self.events, self.storage) = (name, events, storage)
        self.interfaces = served
        commands = served.reduce(into: [:]) { all, one in all.merge(one.commandsByType) { first, _ in first } }
        core = ServiceCore(name, bus, served, loop, NoticeReporter(onNotice))
        storage?.onFailure { [weak core] reason in core?.logFailed(reason) }
        for interface in served { for document in interface.documents.values { document.acceptSubmissions(self) } }
    }

    /// Answers a command. The last handler counts.
    ///
    /// An error of the command's `Failure` reaches the caller as itself, a ``RelayError`` as its code, any other error
    /// as `.internalFailure`. `.invalidArgument`, `.notPermitted`, `.notFound`, `.conflict`, `.unavailable`,
    /// `.storageFull` and `.limitsExceeded` mean that nothing was done.
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
    /// Answers a command without a reply. The last handler counts.
    ///
    /// An error of the command's `Failure` reaches the caller as itself, a ``RelayError`` as its code, any other error
    /// as `.internalFailure`.
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

    /// Publishes an event of a volatile interface at once. It never waits for the bus.
    ///
    /// - Isolation: from any thread.
    /// - Parameter event: the event.
    /// - Throws: `.notFound` for an event of an interface that is not exported. `.invalidArgument` for a value that
    ///   D-Bus cannot carry (a NUL in a string). `.tooLarge` over 1 MiB, or over a quarter of the interface's
    ///   ``EventInterface/ringCapacity``. `.unavailable` after the service's end. Nothing was published then.
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
    /// - Order: that of the commits. If one publish returned before another began, its event comes first.
    /// - Isolation: from any actor, which can do other work meanwhile. With an `EventJournal`, a thread of the
    ///   cooperative pool may commit and wait for the disk: one thread at a time in the process, and none if the pool
    ///   has only one.
    /// - Cancellation: does not withdraw the event.
    /// - Parameter event: the event.
    /// - Throws: `.notFound` for an event of an interface that is not exported. `.invalidArgument` for a value that
    ///   D-Bus cannot carry (a NUL in a string). `.tooLarge` over 1 MiB. `.storageFull` or `.unavailable` from the
    ///   journal. Nothing was published then. `.outcomeUnknown` if the commit failed and may have happened: the service
    ///   ends, and the journal of its next run decides.
    public nonisolated(nonsending) func publish<E: DomainEvent>(_ event: E) async throws
    where E.Interface.Durability == Durable {
        // First: without the interface there may be no journal either.
        let encoded = try events.encode(event)
        try await log.commit(encoded)
    }
    /// Publishes events of a durable interface in one transaction, in order: all of them, or none.
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
    /// Does not compile: a document is set, see ``document(_:)``.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: never: this cannot be called.
    @DocumentsAreSet @available(*, deprecated, message: "a document is set, not published")
    public func publish<Document: DomainDocument>(_ state: Document) throws
    where Document.Interface.Durability == Volatile { throw Self.isDocument(Document.name) }
    /// Does not compile without `await`, and is refused with it: a document is set, see ``document(_:)``.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: `.invalidArgument`.
    @DocumentsAreSet @available(*, deprecated, message: "a document is set, not published")
    public func publish<Document: DomainDocument>(_ state: Document) throws
    where Document.Interface.Durability == Durable { throw Self.isDocument(Document.name) }
    private static func isDocument(_ name: String) -> RelayError {
        RelayError(.invalidArgument, "\(name) is a document: set it, see document(_:)")
    }
    private var log: any EventLogStorage {
        get throws {
            if let storage { return storage }
            throw RelayError(.internalFailure, "\(name) has a durable event and no journal")
        }
    }
}
