/// One line of a contract. Holds what registration needs, made where the type was still concrete.
public struct ContractMember<Interface: EventInterface>: Sendable {
    package enum Kind: Sendable {
        case event(any DomainEvent<Interface>.Type)
        case command(any Command<Interface>.Type)
    }
    package let kind: Kind
}
