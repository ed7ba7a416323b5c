import RelayCore
import Shop

/// The view model of a window: all orders and the cold store's temperature, as they are now. At a mirror, which answers
/// no commands, the orders are those of all events since the beginning, and nobody measures.
@MainActor public final class OrderBoard {
    public private(set) var orders: [Int64: Order] = [:]
    public private(set) var celsius: Double?
    /// Whether the orders have come.
    public private(set) var isFilled = false
    /// For a line at the window's edge.
    public private(set) var trouble: String?
    private var subscriptions: [Subscription] = []

    public init() {}
    public func follow(_ relay: EventRelay) throws {
        let orders = try relay.follow(Orders1.self, asking: ListOrders()) { [weak self] reply in
            self?.show(reply)
        } then: { [weak self] event in
            self?.apply(event)
        } onFailure: { [weak self] error in
            if error.code == .readOnly { self?.followEvents(of: relay) } else { self?.trouble = error.message }
        }
        let climate = try relay.subscribe(to: TemperatureMeasured.self) { [weak self] event in
            self?.celsius = event.celsius
        } onGap: { _ in
        }
        subscriptions = [orders, climate]
    }
    private func followEvents(of relay: EventRelay) {
        do {
            subscriptions = [
                try relay.subscribe(to: Orders1.self, from: .beginning) { [weak self] event in
                    self?.apply(event)
                } onGap: { [weak self] gap in
                    self?.trouble = gap.description
                }
            ]
            isFilled = true
        } catch { trouble = "\(error)" }
    }
    public func show(_ reply: ListOrders.Reply) {
        orders = Dictionary(uniqueKeysWithValues: reply.orders.map { ($0.orderID, $0) })
        (isFilled, trouble) = (true, nil)
    }
    public func apply(_ event: Orders1) {
        switch event {
        case .placed(let placed):
            orders[placed.orderID] = Order(
                orderID: placed.orderID, article: placed.article, count: placed.count, isShipped: false)
        case .shipped(let shipped): orders[shipped.orderID]?.isShipped = true
        }
    }
}
