import RelayCore

/// Two services that know nothing of each other: one takes orders, the other one money.
public enum Orders1: EventInterface {
    public static let name = "org.example.settlements.Orders1"
    public static var contract: Contract<Self> { OrderPlaced.self }
}
public struct OrderPlaced: DomainEvent {
    public typealias Interface = Orders1
    public let orderID: Int64, cents: Int64
    public init(orderID: Int64, cents: Int64) { (self.orderID, self.cents) = (orderID, cents) }
}

public enum Payments1: EventInterface {
    public static let name = "org.example.settlements.Payments1"
    public static var contract: Contract<Self> { PaymentReceived.self }
}
public struct PaymentReceived: DomainEvent {
    public typealias Interface = Payments1
    public let orderID: Int64, cents: Int64
    public init(orderID: Int64, cents: Int64) { (self.orderID, self.cents) = (orderID, cents) }
}
