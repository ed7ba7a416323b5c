/// An interface that is an enum of its events, so that one subscription receives all of them in order.
///
/// A value of the interface is one of its events. A `switch` over the value is exhaustive, so the compiler reports each
/// event that a new version of the contract adds. The contract lists the cases instead of the events' types.
///
/// ```swift
/// enum Orders1: EnumInterface {
///     case placed(OrderPlaced), shipped(OrderShipped)
///     static let name = "org.example.Orders1"
///     static var contract: Contract<Self> {
///         placed
///         shipped
///         PlaceOrder.self
///     }
/// }
/// ```
///
/// In all other respects it is an ordinary ``EventInterface``: each event is published and sent as a value of its own
/// type. Only the relay's subscribers see values of the enum.
public protocol EnumInterface: EventInterface, Subscribable {}

extension ContractBuilder where Interface: EnumInterface {
    /// Adds the event of a case.
    ///
    /// - Parameter make: the case, written by its name, such as `placed`.
    /// - Returns: a line of the contract.
    public static func buildExpression<E: DomainEvent<Interface>>(
        _ make: @escaping @Sendable (E) -> Interface
    ) -> ContractMember<Interface> {
        ContractMember(kind: .event(E.self)) { event in (event as? E).map(make) }
    }
    public static func buildExpression<D: DomainDocument<Interface>>(_ type: D.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type), document: type)
    }
    public static func buildExpression<D: EditableDocument<Interface>>(_ type: D.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type), document: type, submit: SubmitDocument<D>.self)
    }
    // Not `unavailable`: then the other one, for any interface, would be taken. A service and a relay refuse it, too.
    @available(*, deprecated, message: "an EnumInterface lists the case of this event, not its type")
    public static func buildExpression<E: DomainEvent<Interface>>(_ type: E.Type) -> ContractMember<Interface> {
        ContractMember(kind: .event(type))
    }
}

extension Contract where Interface: EnumInterface {
    /// What makes a value of the interface of an event, by the event's name.
    package var cases: [String: @Sendable (any StreamEntry) -> Interface?] {
        var cases: [String: @Sendable (any StreamEntry) -> Interface?] = [:]
        for member in members { if case .event(let type) = member.kind { cases[type.name] = member.value } }
        return cases
    }
}
