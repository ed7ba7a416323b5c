/// An exported interface: what registration made of its contract.
struct ServedInterface: Sendable {
    let name: String
    let path: String
    let durability: String
    let requirement: PeerRequirement
    let lane: EventLane
    let description: InterfaceDescription
    let schemas: [UInt32: EventSchema]
    let events: [ObjectIdentifier: AnyServedEvent]
    let commands: [String: AnyServedCommand]
    let commandsByType: [ObjectIdentifier: AnyServedCommand]

    /// Checks every type, and refuses what D-Bus cannot carry by type, field and reason (`UnsupportedType`); a bad or doubled
    /// name is an `InvalidArgument`.
    init<I: EventInterface>(_ interface: I.Type) throws {
        try BusNames.check(I.name, as: .interface)
        guard I.durability is Volatile else {
            throw RelayError(
                .invalidArgument,
                "\(I.name) is durable, and this service has no journal to keep its events; "
                    + "declare `static let durability = Volatile()`")
        }
        try I.contract.checkNames()
        var builder = Builder(
            lane: try EventLane(I.name, names: I.contract.events.map { $0.name }, requirement: I.requirement))
        for type in I.contract.events { try builder.add(event: type) }
        for type in I.contract.commands { try builder.add(command: type) }
        (name, path, durability, requirement) = (I.name, Stream1.path(of: I.name), "volatile", I.requirement)
        lane = builder.lane
        description = InterfaceDescription(I.name, methods: builder.methods, signals: builder.signals)
        (schemas, events) = (builder.schemas, builder.events)
        (commands, commandsByType) = (builder.commands, builder.commandsByType)
        try description.check()
    }
    private struct Builder {
        let lane: EventLane
        var methods: [InterfaceDescription.Method] = []
        var signals: [InterfaceDescription.Signal] = []
        var schemas: [UInt32: EventSchema] = [:]
        var events: [ObjectIdentifier: AnyServedEvent] = [:]
        var commands: [String: AnyServedCommand] = [:]
        var commandsByType: [ObjectIdentifier: AnyServedCommand] = [:]

        mutating func add<E: DomainEvent>(event type: E.Type) throws {
            let codec = try WireCodec(event: type)
            let index = schemas.count
            events[ObjectIdentifier(type)] = try ServedEvent(type, codec, lane, index)
            schemas[UInt32(index)] = EventSchema(event: E.name, fields: codec.schema.fields)
            signals.append(InterfaceDescription.Signal(event: E.name, fields: codec.schema.fields))
        }
        mutating func add<C: Command>(command type: C.Type) throws {
            let served = try ServedCommand(type)
            commands[C.name] = served
            commandsByType[ObjectIdentifier(type)] = served
            let fields = served.fields
            methods.append(InterfaceDescription.Method(command: C.name, in: fields.request, out: fields.reply))
        }
    }
}
