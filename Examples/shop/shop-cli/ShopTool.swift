import RelayCore
import Shop
import ShopViews

/// The shop at a terminal.
@main @MainActor struct ShopTool: RelayProgram {
    static func run() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        var host: String?
        if arguments.first == "--host", arguments.count > 1 {
            host = arguments[1]
            arguments.removeFirst(2)
        }
        let relay = try EventRelay(following: "org.example.Shop", at: host, interfaces: Orders1.self, Climate1.self)
        relay.activate()
        switch (arguments.first, arguments.count) {
        case ("order", 3):
            let command = PlaceOrder(article: arguments[1], count: Int32(arguments[2]) ?? 0)
            switch await relay.outcome(of: command) {
            case .success(let reply): print("is order #\(reply.orderID)")
            case .refused(.nothingOrdered): print("nothing was ordered")
            case .failed(let error): throw error
            }
        case ("ship", 2):
            try await relay.call(ShipOrder(orderID: Int64(arguments[1]) ?? 0))
            print("shipped")
        case ("board", 1):
            if let host {
                throw RelayError(
                    .readOnly, "the board asks the shop, which answers at \(host) alone: here, watch shows what happens"
                )
            }
            try await board(relay)
        case ("watch", 2): try await watch(relay, arguments[1])
        default:
            throw RelayError(
                .invalidArgument, "[--host HOST] and order ARTICLE COUNT, ship ORDER, board, or watch NAME")
        }
    }
    /// Prints all orders, and a measurement, once they are there.
    static func board(_ relay: EventRelay) async throws {
        try await relay.ready()
        let board = OrderBoard()
        try board.follow(relay)
        while !board.isFilled || board.celsius == nil { try await Task.sleep(for: .milliseconds(10)) }
        for order in board.orders.values.sorted(by: { $0.orderID < $1.orderID }) {
            print("#\(order.orderID) \(order.count) × \(order.article)\(order.isShipped ? ", shipped" : "")")
        }
        if let celsius = board.celsius { print("cold store: \(celsius < 0 ? "frozen" : "thawed")") }
    }
    /// Prints what happens, each event once, whatever is killed in between.
    static func watch(_ relay: EventRelay, _ name: String) async throws {
        let history = OrderHistory { print($0) }
        try history.follow(relay, from: .resuming(name))
        try await relay.run()
        withExtendedLifetime(history) {}
    }
}
