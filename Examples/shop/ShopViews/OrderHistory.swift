import RelayCore
import Shop

/// The view model of a list that grows: everything that has happened to orders, in words. A window that is opened
/// again shows all of it.
@MainActor public final class OrderHistory {
    public private(set) var lines: [String] = []
    private let onLine: (String) -> Void

    public init(onLine: @escaping (String) -> Void = { _ in }) { self.onLine = onLine }

    /// Follows a shop, as long as this object lives.
    public func follow(_ relay: EventRelay, from start: StreamPosition) throws {
        try relay.subscribe(self, to: Orders1.self, from: start) { me, event in
            me.show(event)
        } onGap: { me, gap in
            me.add("(\(gap))")
        }
    }
    private func show(_ event: Orders1) {
        switch event {
        case .placed(let order): add("#\(order.orderID) placed: \(order.count) × \(order.article)")
        case .shipped(let order): add("#\(order.orderID) shipped")
        }
    }
    private func add(_ line: String) {
        lines.append(line)
        onLine(line)
    }
}
