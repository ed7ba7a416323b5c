import RelayCore
import Shop

/// The view model of a list that grows: everything that has happened to orders, in words. A window that is opened
/// again shows all of it.
@MainActor public final class OrderHistory: EventSubscriber {
    public private(set) var lines: [String] = []
    private let onLine: (String) -> Void

    public init(onLine: @escaping (String) -> Void = { _ in }) { self.onLine = onLine }

    public func on(_ event: Orders1) {
        switch event {
        case .placed(let order): add("#\(order.orderID) placed: \(order.count) × \(order.article)")
        case .shipped(let order): add("#\(order.orderID) shipped")
        }
    }
    public func onGap(_ gap: Gap) { add("(\(gap))") }
    private func add(_ line: String) {
        lines.append(line)
        onLine(line)
    }
}
