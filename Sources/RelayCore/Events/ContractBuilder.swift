/// Lets a contract be a list of types; refuses, at compile time, one that belongs to another interface.
@resultBuilder public enum ContractBuilder<Interface: EventInterface> {
    public static func buildExpression<E: DomainEvent<Interface>>(_ type: E.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type))
    }
    public static func buildExpression<C: Command<Interface>>(_ type: C.Type) -> ContractMember<Interface> {
        ContractMember(kind: .command(type))
    }
    @available(*, unavailable, message: "this type belongs to another interface, or is no event or command")
    public static func buildExpression<T>(_ type: T.Type) -> ContractMember<Interface> { fatalError() }

    public static func buildBlock(_ members: ContractMember<Interface>...) -> Contract<Interface> {
        Contract(members: members)
    }
}
