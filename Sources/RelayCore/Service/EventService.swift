import Synchronization
import RelayWire

/// The service's side: owns a bus name, exports interfaces, answers commands, publishes events.
///
/// ```swift
/// let journal = try EventJournal(directory: "/var/lib/printer")
/// let service = try EventService(name: "org.example.Printer", exporting: Printing1.self, journal: journal)
/// service.handle(PrintJob.self) { job, _ in PrintJob.Reply(jobID: try await print(job)) }
/// try await service.run()
/// ```
///
/// ``run()`` serves until its task is cancelled, as swift-service-lifecycle expects of a service. A program that
/// consists of a service can be a ``RelayProgram``. ``start()`` and ``stop(patience:)`` are for code that does other
/// work while the service runs.
///
/// - Order: the events of one interface reach the bus in the order of `publish`, whichever threads publish.
/// - Isolation: a handler runs on the actor that it is isolated to, otherwise on the service's own threads, where it may
///   block: at most 256 at a time, beyond which calls wait. An `async` handler goes on there behind each `await`; what
///   else it starts, such as a `Task`, runs where the language says. Calls of one peer run one after the other, calls of
///   different peers at the same time.
/// - Loss: an event that the bus does not accept in time keeps its sequence, so subscribers see the gap.
/// - Cancellation: when the task of ``run()`` is cancelled, the service finishes running commands, within its patience,
///   and releases the name.
public final class EventService: Sendable {
    /// The bus name.
    public let name: String
    let interfaces: [ExportedInterface]
    let events: ExportedEvents
    package let storage: (any EventLogStorage)?
    let commands: [ObjectIdentifier: AnyExportedCommand]
    /// What handlers publish by.
    private let publisher: CommandPublisher
    let core: ServiceCore
    let rules = SubmissionRules()
    /// Handlers that cannot be: why, each as a sentence.
    let misfits = Mutex<[String]>([])
    let life = ServiceLife()

    /// Prepares a service of volatile interfaces. Nothing is on the bus before ``start()`` or ``run()``.
    ///
    /// For durable interfaces, RelayJournal has an initialiser with a `journal:`.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter older: older versions of them that are served, too: see ``EventInterface/serving(_:_:)``.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with each notice of the service: see ``Notice/Kind``. Calls are rare. They come
    ///   one at a time on a separate thread, so the closure may write to a log that blocks.
    /// - Throws: `.unsupportedType` for a type that D-Bus cannot carry; the message names the type, the field and the
    ///   reason. `.invalidArgument` for a bad or repeated name, and for a durable interface.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: any EventInterface.Type...,
        older: OlderInterface..., admitting admitted: PeerRequirement = .anyone,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(
            name: name, on: bus, exporting: interfaces, older: older, admitting: admitted, onNotice: onNotice)
    }
    /// Prepares a service of volatile interfaces that are chosen at run time.
    ///
    /// - Parameter name: the well-known bus name.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces to export.
    /// - Parameter older: older versions of them that are served, too.
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter onNotice: is called with each notice of the service: see ``Notice/Kind``.
    /// - Throws: as the initialiser that takes single interfaces.
    public convenience init(
        name: String, on bus: Bus = .session, exporting interfaces: [any EventInterface.Type],
        older: [OlderInterface] = [], admitting admitted: PeerRequirement = .anyone,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(name, bus, interfaces, older: older, journal: nil, admitting: admitted, onNotice)
    }
    /// With a log for the events of durable interfaces.
    ///
    /// - Parameter admitted: the requirement that every peer must meet, in addition to those of the contracts.
    /// - Parameter runs: by the names of durable interfaces that are mirrored, the runs of their origins.
    /// - Parameter timing: set by tests.
    package convenience init(
        _ name: String, _ bus: Bus, _ interfaces: [any EventInterface.Type], older: [OlderInterface] = [],
        journal: (any EventLog)?, mirroring runs: [String: MirroredRun] = [:],
        admitting admitted: PeerRequirement = .anyone,
        timing: ServiceTiming = ServiceTiming(),
        _ onNotice: @escaping @Sendable (Notice) -> Void
    ) throws {
        try Self.check(name)
        let mapped = try OlderParts.byInterface(older, exporting: interfaces)
        func plan<I: EventInterface>(_ type: I.Type, isOlder: Bool) throws -> InterfacePlan {
            try InterfacePlan(
                type, admitting: admitted, mapped: mapped[ObjectIdentifier(type)] ?? OlderParts(), isOlder: isOlder)
        }
        let plans =
            try interfaces.map { try plan($0, isOlder: false) }
            + older.map { try plan($0.interface, isOlder: true) }
        try self.init(name, bus, plans: plans, journal: journal, mirroring: runs, timing: timing, onNotice)
        for one in older { for command in one.parts.commands.values { try command.install(self) } }
    }
    static func check(_ name: String) throws(RelayError) {
        try BusNames.check(name, as: .busName)
        if name.hasPrefix(":") {
            throw RelayError(.invalidArgument, "'\(name)' is a connection's name; a service needs a well-known one")
        }
    }
    /// With interfaces of which it is known what they are made of.
    init(
        _ name: String, _ bus: Bus, plans: [InterfacePlan], journal: (any EventLog)?,
        mirroring runs: [String: MirroredRun], timing: ServiceTiming, _ onNotice: @escaping @Sendable (Notice) -> Void
    ) throws {
        var served: [ExportedInterface] = []
        for plan in plans {
            let logIndex = journal == nil ? nil : served.count { $0.logged != nil }
            served.append(
                try ExportedInterface(
                    plan, number: served.count, logIndex: logIndex, mirroring: runs[plan.name], on: bus,
                    timing: timing))
        }
        if Set(served.map(\.name)).count != served.count {
            throw RelayError(.invalidArgument, "an interface is exported twice: \(served.map(\.name))")
        }
        let contract = try ExportedContract(served)
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
        publisher = CommandPublisher(events, storage)
        self.interfaces = served
        commands = Dictionary(
            served.flatMap(\.commands.values).compactMap { command in command.type.map { ($0, command) } }
        ) { first, _ in first }
        core = ServiceCore(name, bus, served, contract, loop, NoticeReporter(onNotice, timing.notices), timing)
        storage?.onFailure { [weak core] reason in core?.logFailed(reason) }
        // What follows another document is not set by itself.
        let documents = zip(served, plans).flatMap { interface, plan in
            interface.documents.map { (document: $0, isFollower: plan.isOlder) }
        }
        for one in documents { try one.document.find(events) }
        for one in documents where !one.isFollower {
            try one.document.beginOlder()
            one.document.acceptSubmissions(self)
        }
    }

    /// Answers a command. A later handler replaces an earlier one.
    ///
    /// An error of the command's `Refusal` reaches the caller as itself, a ``RelayError`` as its code, any other error
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
    /// Answers a command without a reply. A later handler replaces an earlier one.
    ///
    /// An error of the command's `Refusal` reaches the caller as itself, a ``RelayError`` as its code, any other error
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
    /// Does not compile: a handler takes the context, too.
    @available(*, unavailable, message: "a handler takes the command and its context: { command, context in … }")
    public func handle<C: Command, Reply>(
        _ type: C.Type,
        @_inheritActorContext with handler: @escaping @isolated(any) @Sendable (C) async throws -> Reply
    ) {}
    func setHandler<C: Command>(_ type: C.Type, _ handler: @escaping ExportedCommand<C>.Handler) {
        if let command = commands[ObjectIdentifier(type)] as? ExportedCommand<C> {
            command.setHandler(handler, publisher)
        } else {
            noteStray("\(C.Interface.name).\(C.name)")
        }
    }
    func noteStray(_ command: String) {
        noteMisfit(
            "a handler for \(command), which \(name) does not export: list it in its interface's contract, or add the "
                + "interface to exporting")
    }
    /// A handler that cannot be: the start throws why.
    package func noteMisfit(_ reason: String) { misfits.withLock { $0.append(reason) } }
}
