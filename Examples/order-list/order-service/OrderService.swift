import OrderList
import RelayCore
import RelayJournal

/// 20,000 orders, of which 200 change in a second: `order-service FOLDER`.
@main struct OrderService: RelayProgram {
    static func run() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw RelayError(.invalidArgument, "usage: order-service FOLDER, where the orders are kept")
        }
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        defer { journal.close() }
        let orders: SQL = """
            CREATE TABLE orders (orderID INTEGER PRIMARY KEY, article TEXT NOT NULL, count INTEGER NOT NULL)
            """
        let stock = Migration("stock") { unit in
            for number in 1...20_000 {
                try unit.execute("INSERT INTO orders (article, count) VALUES (\("Article \(number % 97)"), 1)")
            }
        }
        try await journal.migrate("orders", by: [Migration("orders", orders), stock])
        let service = try EventService(name: "org.example.OrderList", exporting: Orders1.self, journal: journal)
        service.handle(ListOrders.self) { query, _ in
            // Orders and position are read in one transaction: later events apply on top.
            try await journal.read { snapshot in
                let position = try snapshot.position(of: Orders1.self)
                let page: SQL = "SELECT * FROM orders WHERE orderID > \(query.after) ORDER BY orderID LIMIT 1000"
                return ListOrders.Reply(
                    epoch: position.epoch, sequence: position.sequence, orders: try snapshot.query(page))
            }
        }
        try await service.run(alongside: { try await work(service) })
    }
    /// Twenty times a second, ten rows: a new order comes, the oldest one goes, eight others change.
    private static func work(_ service: EventService) async throws {
        while true {
            try await service.unitOfWork { unit in
                let new = try unit.query(
                    "INSERT INTO orders (article, count) VALUES ('New', 1) RETURNING *", as: Order.self)[0]
                try unit.publish(OrderChanged(order: new))
                let oldest = new.orderID - 20_000
                try unit.execute("DELETE FROM orders WHERE orderID = \(oldest)")
                try unit.publish(OrderRemoved(orderID: oldest))
                for _ in 1...8 {
                    let id = Int64.random(in: oldest + 1..<new.orderID)
                    let changed = try unit.query(
                        "UPDATE orders SET count = count + 1 WHERE orderID = \(id) RETURNING *", as: Order.self)[0]
                    try unit.publish(OrderChanged(order: changed))
                }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
