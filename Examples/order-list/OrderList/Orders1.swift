import RelayCore

/// Orders, and what changes them. All of them are more than a message holds: they come in pages.
public enum Orders1: EnumInterface {
    case changed(OrderChanged), removed(OrderRemoved)

    public static let name = "org.example.orderlist.Orders1"
    public static var contract: Contract<Self> {
        changed
        removed
        ListOrders.self
    }
}

/// A new order, or another state of one.
public struct OrderChanged: DomainEvent {
    public typealias Interface = Orders1
    public let order: Order
    public init(order: Order) { self.order = order }
}
public struct OrderRemoved: DomainEvent {
    public typealias Interface = Orders1
    public let orderID: Int64
    public init(orderID: Int64) { self.orderID = orderID }
}

/// The orders behind an id. A page without orders is the last one.
public struct ListOrders: PagedQuery {
    public typealias Interface = Orders1
    public let after: Int64
    public init(after: Int64 = 0) { self.after = after }
    public struct Reply: SnapshotReply {
        public let epoch: UInt64, sequence: UInt64
        public let orders: [Order]
        public init(epoch: UInt64, sequence: UInt64, orders: [Order]) {
            (self.epoch, self.sequence, self.orders) = (epoch, sequence, orders)
        }
    }
    public func next(after page: Reply) -> Self? { page.orders.last.map { ListOrders(after: $0.orderID) } }
}
public struct Order: Codable, Hashable, Sendable {
    public let orderID: Int64, article: String, count: Int32
    public init(orderID: Int64, article: String, count: Int32) {
        (self.orderID, self.article, self.count) = (orderID, article, count)
    }
}
