import RelayCore
import RelayJournal
import Shop

/// Keeps orders, and answers the commands about them. State and events are committed together.
public struct OrderDesk: Sendable {
    private let journal: EventJournal

    /// Makes the table, if it is not there.
    public init(_ journal: EventJournal) async throws {
        self.journal = journal
        let orders: SQL = """
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, article TEXT NOT NULL, count INTEGER NOT NULL, shipped INTEGER NOT NULL)
            """
        try await journal.migrate("shop", by: [Migration("orders", orders)])
    }
    public func open(on service: EventService) {
        service.handle(PlaceOrder.self) { command, _, unit in
            guard command.count > 0 else { throw PlaceOrder.Refusal.nothingOrdered }
            let insert: SQL = """
                INSERT INTO orders (article, count, shipped) VALUES (\(command.article), \(command.count), FALSE)
                RETURNING id
                """
            let orderID = try unit.query(insert, as: Int64.self)[0]
            try unit.publish(OrderPlaced(orderID: orderID, article: command.article, count: command.count))
            return PlaceOrder.Reply(orderID: orderID)
        }
        service.handle(ShipOrder.self) { command, _, unit in
            let orderID = command.orderID
            let found = try unit.query("SELECT shipped FROM orders WHERE id = \(orderID)", as: Bool.self)
            guard let isShipped = found.first else { throw ShipOrder.Refusal.unknownOrder }
            if isShipped { throw ShipOrder.Refusal.alreadyShipped }
            try unit.execute("UPDATE orders SET shipped = TRUE WHERE id = \(orderID)")
            try unit.publish(OrderShipped(orderID: orderID))
        }
        service.handle(ListOrders.self) { _, _ in
            // Orders and position are read in one transaction: later events apply on top.
            try await journal.read { snapshot in
                let position = try snapshot.position(of: Orders1.self)
                let orders = try snapshot.query("SELECT id, article, count, shipped FROM orders ORDER BY id") { row in
                    Order(
                        orderID: try row["id"], article: try row["article"], count: try row["count"],
                        isShipped: try row["shipped"])
                }
                return ListOrders.Reply(epoch: position.epoch, sequence: position.sequence, orders: orders)
            }
        }
    }
}
