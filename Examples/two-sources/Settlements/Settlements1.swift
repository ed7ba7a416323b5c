import RelayCore

/// What a third service makes of both: which orders are settled, and how much is open.
public enum Settlements1: EventInterface {
    public static let name = "org.example.settlements.Settlements1"
    public static var contract: Contract<Self> {
        OrderSettled.self
        SourceMissed.self
        Balance.self
    }
}
/// An order and its payment have both come, in either order.
public struct OrderSettled: DomainEvent {
    public typealias Interface = Settlements1
    /// Positive where too much was paid.
    public let orderID: Int64, difference: Int64
    public init(orderID: Int64, difference: Int64) { (self.orderID, self.difference) = (orderID, difference) }
}
/// Something that a source published was gone before it could be read: from here on, the balance is not exact.
public struct SourceMissed: DomainEvent {
    public typealias Interface = Settlements1
    public let source: String, what: String
    public init(source: String, what: String) { (self.source, self.what) = (source, what) }
}
public struct Balance: DomainDocument {
    public typealias Interface = Settlements1
    /// What was received, less what was ordered.
    public var cents: Int64
    public var isExact: Bool
    public init(cents: Int64, isExact: Bool) { (self.cents, self.isExact) = (cents, isExact) }
    public static let initial = Self(cents: 0, isExact: true)
}
