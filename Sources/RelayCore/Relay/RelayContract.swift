/// What a relay makes of its interfaces' contracts, while their types are concrete.
struct RelayContract {
    private(set) var interfaces: [String: any EventInterface.Type] = [:]
    private(set) var interests: [ObjectIdentifier: RelayInterests.Place] = [:]
    private(set) var receivers: [String: [String: AnyReceiver]] = [:]
    private(set) var durable: Set<String> = []
    private(set) var commands: [ObjectIdentifier: any RelayCommandCodec] = [:]

    mutating func add<I: EventInterface>(_ interface: I.Type) throws {
        try BusNames.check(I.name, as: .interface)
        if interfaces.updateValue(interface, forKey: I.name) != nil {
            throw RelayError(.invalidArgument, "the interface \(I.name) is given twice")
        }
        try I.contract.checkNames()
        if I.Durability.self == Durable.self { durable.insert(I.name) }
        for type in I.contract.events { try add(event: type) }
        for type in I.contract.commands { try add(command: type) }
    }
    private mutating func add<E: DomainEvent>(event type: E.Type) throws {
        interests[ObjectIdentifier(type)] = RelayInterests.Place(interface: E.Interface.name, event: E.name)
        receivers[E.Interface.name, default: [:]][E.name] = try EventReceiver(type)
    }
    private mutating func add<C: Command>(command type: C.Type) throws {
        commands[ObjectIdentifier(type)] = try TypedCommandCodec(type)
    }
}
