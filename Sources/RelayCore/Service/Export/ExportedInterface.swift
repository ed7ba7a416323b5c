/// An exported interface: what registration made of its contract.
struct ExportedInterface: Sendable {
    let name: String
    let path: String
    /// How long the log keeps its events; nil for a volatile one.
    let retention: Retention?
    let requirement: PeerRequirement
    let stream: PublishedStream
    let description: InterfaceDescription
    let events: [ObjectIdentifier: AnyExportedEvent]
    let documents: [ObjectIdentifier: AnyExportedDocument]
    let book: DocumentBook
    let commands: [String: AnyExportedCommand]
    let commandsByType: [ObjectIdentifier: AnyExportedCommand]
    /// What `Contract` reports of it.
    let contract: ContractText
    /// By number; of a durable one, all that the log has.
    private(set) var schemas: [UInt32: EventSchema]
    /// The events that can be asked for; of a durable one, also those of earlier versions.
    private(set) var names: Set<String>
    private(set) var log: ExportedLog?
    /// Of a mirror.
    private let mirrored: MirroredRun?

    /// Checks every type, and refuses what D-Bus cannot carry by type, field and reason (`UnsupportedType`); a bad or
    /// doubled name is an `InvalidArgument`, as is a durable interface without a log.
    ///
    /// - Parameters:
    ///   - number: of the interface in its service.
    ///   - logIndex: the place among the log's interfaces that a durable one gets; nil without a log.
    ///   - admitted: whom the service admits at all: what the contract requires comes on top.
    ///   - mapped: what its events and documents are in older interfaces, and what its commands are in a newer one.
    ///   - bus: where it is offered; one of a test's own brings its outlet, and its time.
    init<I: EventInterface>(
        _ interface: I.Type, number: Int, logIndex: Int?, admitting admitted: PeerRequirement = .anyone,
        mapped: OlderParts = OlderParts(), mirroring run: MirroredRun? = nil, on bus: Bus = .session,
        timing: ServiceTiming = ServiceTiming()
    ) throws {
        try BusNames.check(I.name, as: .interface)
        retention = (I.durability as? Durable)?.retention
        let isVolatile = I.durability is Volatile
        if !isVolatile && (retention == nil || logIndex == nil) {
            throw RelayError(
                .invalidArgument,
                "\(I.name) is durable, and this service has no journal to keep its events: pass one as journal:, or "
                    + "declare `static let durability = Volatile()`")
        }
        try I.contract.checkNames()
        let requirement = admitted.joined(by: I.requirement)
        try requirement.check(forServiceOn: bus, I.name)
        for type in I.contract.commands { try type.requirement.check(forServiceOn: bus, "\(I.name).\(type.name)") }
        let plan = try RingPlan(interface, isVolatile: isVolatile, ringIndex: number)
        var builder = Builder(
            interface: I.name, logIndex: isVolatile ? nil : logIndex, admitted: admitted, mapped: mapped)
        for type in I.contract.events { try builder.add(event: type) }
        let submitting = Set(I.contract.members.compactMap(\.submit).map { ObjectIdentifier($0) })
        for type in I.contract.commands {
            // Its contract follows from that of its document.
            try builder.add(command: type, isDeclared: !submitting.contains(ObjectIdentifier(type)))
        }
        (name, path, self.requirement, mirrored) = (I.name, Stream1.path(of: I.name), requirement, run)
        let signals = try SignalOutlet(
            path: path, requirement: requirement, budget: I.signalBudget, templates: builder.templates,
            timing: timing.signals)
        book = DocumentBook(builder.properties)
        stream = PublishedStream(
            I.name, names: I.contract.events.map { $0.name }, templates: builder.templates,
            StreamOutlets(ring: RingOutlet(plan, timing), signals: signals),
            following: book, of: Set(builder.properties.keys), epoch: run?.epoch ?? .random(in: 1...UInt64.max),
            clock: bus.clock)
        description = InterfaceDescription(
            I.name, methods: builder.methods, signals: builder.signals, properties: builder.described,
            annotations: InterfaceDescription.Annotation.described(I.about.text))
        (schemas, events, names) = (builder.schemas, builder.events(of: stream), Set(stream.names))
        (commands, commandsByType, documents) = (
            builder.commands, builder.commandsByType, builder.documents(of: stream, in: book)
        )
        contract = ContractText(
            of: interface, events: builder.contractEvents, documents: builder.contractDocuments,
            commands: builder.contractCommands)
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
                documents: Set(documents.values.map(\.number)), stream: stream, clock: stream.clock,
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
        try beginDocuments(run.documents)
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
        for document in documents.values { try document.begin(logged[document.name], schemas) }
    }
    /// The number of a document's present schema: of several with its name, the highest.
    func schema(of document: String) -> UInt32 { schemas.filter { $0.value.event == document }.keys.max() ?? 0 }

    private struct Builder {
        let interface: String
        let logIndex: Int?
        let admitted: PeerRequirement
        let mapped: OlderParts
        var methods: [InterfaceDescription.Method] = []
        var signals: [InterfaceDescription.Signal] = []
        var schemas: [UInt32: EventSchema] = [:]
        /// The headers of the events' messages.
        var templates: [MessageTemplate] = []
        /// The documents, by the events' numbers, and what introspection shows of them.
        var properties: [Int: DocumentProperty] = [:]
        var described: [InterfaceDescription.Property] = []
        private var documentMakers:
            [(type: ObjectIdentifier, make: (PublishedStream, DocumentBook) -> AnyExportedDocument)] = []
        /// The events by their types, once their stream is there.
        private var makers: [(type: ObjectIdentifier, make: (PublishedStream) -> AnyExportedEvent)] = []
        var commands: [String: AnyExportedCommand] = [:]
        var commandsByType: [ObjectIdentifier: AnyExportedCommand] = [:]
        var contractEvents: [ContractEvent] = []
        var contractDocuments: [ContractDocument] = []
        var contractCommands: [ContractCommand] = []

        init(interface: String, logIndex: Int?, admitted: PeerRequirement, mapped: OlderParts) {
            (self.interface, self.logIndex, self.admitted, self.mapped) = (interface, logIndex, admitted, mapped)
        }

        mutating func add<E: DomainEvent>(event type: E.Type) throws {
            let codec = try WireCodec(event: type)
            let index = makers.count
            templates.append(
                try MessageTemplate(
                    path: Stream1.path(of: interface), interface: interface, member: E.name,
                    signature: Signature(codec.schema.signature + WireSchema.stampSignature)))
            let older = mapped.derivations(of: type)
            makers.append(
                (
                    ObjectIdentifier(type),
                    { [logIndex] in ExportedEvent(codec, $0, index, logIndex: logIndex, older: older) }
                ))
            schemas[UInt32(index)] = EventSchema(event: E.name, fields: codec.schema.fields)
            signals.append(try InterfaceDescription.Signal(type, fields: codec.schema.fields))
            if let document = type as? any DomainDocument.Type {
                try add(document: document, number: index)
            } else {
                contractEvents.append(ContractEvent(of: type, codec.schema.fields))
            }
        }
        private mutating func add<D: DomainDocument>(document type: D.Type, number: Int) throws {
            if D.isFixedLayout {
                throw RelayError(
                    .invalidArgument,
                    "\(interface).\(D.name) is a document, and a FixedLayoutEvent: make it a DomainDocument only")
            }
            let codec = try WireCodec(event: type)
            properties[number] = try DocumentProperty(D.name, codec.schema)
            described.append(try InterfaceDescription.Property(type, fields: codec.schema.fields))
            contractDocuments.append(ContractDocument(of: type, codec.schema.fields))
            let older = mapped.derivations(ofDocument: type)
            documentMakers.append(
                (
                    ObjectIdentifier(type),
                    { [logIndex, older] in ExportedDocument(codec, $0, $1, number, logIndex: logIndex, older: older) }
                ))
        }
        func documents(
            of stream: PublishedStream, in book: DocumentBook
        ) -> [ObjectIdentifier: AnyExportedDocument] {
            Dictionary(documentMakers.map { ($0.type, $0.make(stream, book)) }) { first, _ in first }
        }
        func events(of stream: PublishedStream) -> [ObjectIdentifier: AnyExportedEvent] {
            Dictionary(makers.map { ($0.type, $0.make(stream)) }) { first, _ in first }
        }
        mutating func add<C: Command>(command type: C.Type, isDeclared: Bool) throws {
            let others = mapped.commands[ObjectIdentifier(type)]?.requirement ?? .anyone
            let served = try ExportedCommand(type, admitting: admitted.joined(by: others))
            commands[C.name] = served
            commandsByType[ObjectIdentifier(type)] = served
            let fields = served.fields
            methods.append(
                try InterfaceDescription.Method(
                    type, in: fields.request, out: fields.reply, progress: fields.progress))
            if isDeclared {
                contractCommands.append(
                    ContractCommand(of: type, fields.request, reply: fields.reply, progress: fields.progress))
            }
        }
    }
}

extension PeerRequirement {
    /// Both, where either asks for anything.
    func joined(by other: Self) -> Self { isAnyone ? other : other.isAnyone || self == other ? self : self && other }
}
