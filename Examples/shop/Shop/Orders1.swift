import RelayCore

/// What happens to orders. Durable: every event is kept, and read later by whoever was away.
public enum Orders1: EnumInterface {
    case placed(OrderPlaced), shipped(OrderShipped)

    public static let name = "org.example.shop.Orders1"
    public static var contract: Contract<Self> {
        placed
        shipped
        PlaceOrder.self
        ShipOrder.self
        ListOrders.self
    }
}

public struct OrderPlaced: DomainEvent, Hashable {
    public typealias Interface = Orders1
    public let orderID: Int64, article: String, count: Int32
    public init(orderID: Int64, article: String, count: Int32) {
        (self.orderID, self.article, self.count) = (orderID, article, count)
    }
}
public struct OrderShipped: DomainEvent, Hashable {
    public typealias Interface = Orders1
    public let orderID: Int64
    public init(orderID: Int64) { self.orderID = orderID }
}

public struct PlaceOrder: Command {
    public typealias Interface = Orders1
    public let article: String, count: Int32
    public init(article: String, count: Int32) { (self.article, self.count) = (article, count) }
    public struct Reply: Codable, Sendable {
        public let orderID: Int64
        public init(orderID: Int64) { self.orderID = orderID }
    }
    public enum Refusal: String, CommandRefusal { case nothingOrdered = "NothingOrdered" }
}
public struct ShipOrder: Command {
    public typealias Interface = Orders1
    public let orderID: Int64
    public init(orderID: Int64) { self.orderID = orderID }
    public enum Refusal: String, CommandRefusal {
        case unknownOrder = "UnknownOrder"
        case alreadyShipped = "AlreadyShipped"
    }
}
/// The present state, and the event that it is of: what a view begins with.
public struct ListOrders: Command {
    public typealias Interface = Orders1
    public init() {}
    public struct Reply: SnapshotReply {
        public let epoch: UInt64, sequence: UInt64
        public let orders: [Order]
        public init(epoch: UInt64, sequence: UInt64, orders: [Order]) {
            (self.epoch, self.sequence, self.orders) = (epoch, sequence, orders)
        }
    }
}
public struct Order: Codable, Hashable, Sendable {
    public let orderID: Int64, article: String, count: Int32
    public var isShipped: Bool
    public init(orderID: Int64, article: String, count: Int32, isShipped: Bool) {
        (self.orderID, self.article, self.count, self.isShipped) = (orderID, article, count, isShipped)
    }
}
