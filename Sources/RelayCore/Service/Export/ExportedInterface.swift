import RelayWire

/// An exported interface: what registration made of its contract.
struct ExportedInterface: Sendable {
    let name: String
    let path: String
    /// How long the log keeps its events; nil for a volatile one.
    let retention: Retention?
    let requirement: PeerRequirement
    let stream: PublishedStream
    let description: InterfaceDescription
    /// By their numbers.
    let events: [AnyExportedEvent]
    let documents: [AnyExportedDocument]
    let book: DocumentBook
    let commands: [String: AnyExportedCommand]
    /// What `Contract` reports of it.
    let contract: ContractText
    /// By number; of a durable one, all that the log has.
    private(set) var schemas: [UInt32: EventSchema]
    /// The events that can be asked for; of a durable one, also those of earlier versions.
    private(set) var names: Set<String>
    private(set) var log: ExportedLog?
    /// Of a mirror.
    private let mirrored: MirroredRun?

    /// - Parameters:
    ///   - plan: what it is made of.
    ///   - number: of the interface in its service.
    ///   - logIndex: the place among the log's interfaces that a durable one gets; nil without a log.
    ///   - run: of a mirror, the origin's run.
    ///   - bus: where it is offered; one of a test's own brings its outlet, and its time.
    /// - Throws: `InvalidArgument` for a durable interface without a log, and for a requirement that nobody could meet.
    init(
        _ plan: InterfacePlan, number: Int, logIndex: Int?, mirroring run: MirroredRun? = nil, on bus: Bus = .session,
        timing: ServiceTiming = ServiceTiming()
    ) throws {
        (name, path, retention, requirement) = (
            plan.name, Stream1.path(of: plan.name), plan.retention, plan.requirement
        )
        mirrored = run
        let isVolatile = retention == nil
        if !isVolatile && logIndex == nil {
            throw RelayError(
                .invalidArgument,
                "\(name) is durable, and this service has no journal to keep its events: pass one as journal:, or "
                    + "declare `static let durability = Volatile()`")
        }
        try requirement.check(forServiceOn: bus, name)
        for call in plan.calls { try call.command.requirement.check(forServiceOn: bus, "\(name).\(call.method.name)") }
        let ring = try RingPlan(
            name, capacity: plan.ringCapacity, events: plan.events.map(\.ring), isVolatile: isVolatile,
            ringIndex: number)
        let templates = try plan.events.map { event in
            try MessageTemplate(
                path: Stream1.path(of: plan.name), interface: plan.name, member: event.name,
                signature: Signature(event.schema.signature + WireSchema.stampSignature))
        }
        let documents = plan.events.enumerated().filter { $0.element.property != nil }
        book = DocumentBook(
            Dictionary(
                uniqueKeysWithValues: try documents.map {
                    ($0.offset, try DocumentProperty($0.element.name, $0.element.schema))
                }))
        let signals = try SignalOutlet(
            path: path, requirement: requirement, budget: plan.signalBudget, templates: templates,
            timing: timing.signals)
        stream = PublishedStream(
            name, names: plan.events.map(\.name), templates: templates,
            StreamOutlets(ring: RingOutlet(ring, timing), signals: signals),
            following: book, of: Set(documents.map(\.offset)), epoch: run?.epoch ?? .random(in: 1...UInt64.max),
            clock: bus.clock)
        description = InterfaceDescription(
            name, methods: plan.calls.map(\.method), signals: plan.events.map(\.signal),
            properties: plan.events.compactMap(\.property),
            annotations: InterfaceDescription.Annotation.described(plan.about))
        schemas = [:]
        for (index, event) in plan.events.enumerated() {
            schemas[UInt32(index)] = EventSchema(event: event.name, fields: event.schema.fields)
        }
        names = Set(stream.names)
        let (stream, book) = (stream, book)
        let places = plan.events.indices.map {
            InterfacePlan.Place(stream: stream, index: $0, logIndex: isVolatile ? nil : logIndex)
        }
        events = zip(plan.events, places).map { $0.make($1) }
        self.documents = zip(plan.events, places).compactMap { $0.makeDocument?($1, book) }
        commands = Dictionary(plan.calls.map { ($0.command.name, $0.command) }) { first, _ in first }
        contract = plan.contract
        try description.check()
    }
    var durability: String { retention == nil ? "volatile" : "durable" }
    /// Its own, and those of its commands.
    var requirements: [PeerRequirement] { [requirement] + commands.values.map(\.requirement) }

    /// What the log has to know; nil for a volatile interface.
    var logged: LoggedInterface? {
        retention.map { retention in
            LoggedInterface(
                name: name, epoch: stream.epoch, retention: retention,
                events: schemas.sorted { $0.key < $1.key }.map(\.value),
                documents: Set(documents.map(\.number)), stream: stream, clock: stream.clock,
                isOpen: mirrored?.isOpen)
        }
    }
    /// Goes on where the log stands.
    mutating func begin(_ run: LogSnapshot, in storage: any EventLogStorage) throws {
        // As the contract has them, where they are the same: a log keeps no former names, which old relays need.
        let own = Dictionary(schemas.values.map { ($0.event, $0) }) { first, _ in first }
        let known = run.schemas.mapValues { kept in own[kept.event].flatMap { $0 == kept ? $0 : nil } ?? kept }
        log = try ExportedLog(storage, known)
        schemas = known
        names.formUnion(run.schemas.values.map(\.event))
        names.formUnion(run.last.keys)
        if names.count > ContractLimits.events {
            throw RelayError(
                .invalidArgument,
                "\(name) has had \(names.count) events in all its versions, an interface can have "
                    + "\(ContractLimits.events): go on with a new interface, under a new name")
        }
        stream.begin(run, isOpen: mirrored?.isOpen ?? false)
        try beginDocuments(run.documents.filter { !run.unknownDocuments.contains($0.key) })
    }
    /// One of these names that the interface does not have, and never had.
    func unknown(_ asked: [String]) -> String? { asked.first { $0 != Stream1.allNames && !names.contains($0) } }

    /// The same names, each once and in this interface's own memory: what is kept of a request must not grow with it.
    func kept(_ asked: [String]) -> [String] {
        if asked.contains(Stream1.allNames) { return [Stream1.allNames] }
        return Set(asked).compactMap { names.firstIndex(of: $0).map { names[$0] } }.sorted()
    }

    /// Its documents begin with what the log has of them, or anew.
    func beginDocuments(_ logged: [String: LoggedDocument] = [:]) throws {
        for document in documents { try document.begin(logged[document.name], schemas) }
    }
    /// The number of a document's present schema: of several with its name, the highest.
    func schema(of document: String) -> UInt32 { schemas.filter { $0.value.event == document }.keys.max() ?? 0 }
}
