import RelayCore
import RelayJournal
import Shop

/// Keeps orders, and answers the commands about them. State and events are committed together.
public struct OrderDesk: Sendable {
    private let journal: EventJournal

    /// Makes the table, if it is not there.
    public init(_ journal: EventJournal) async throws {
        self.journal = journal
        let orders = """
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, article TEXT NOT NULL, count INTEGER NOT NULL, shipped INTEGER NOT NULL)
            """
        try await journal.migrate("shop", by: [Migration("orders", orders)])
    }
    public func open(on service: EventService) {
        service.handle(PlaceOrder.self, in: journal) { command, _, unit in
            guard command.count > 0 else { throw PlaceOrder.Failure.nothingOrdered }
            let insert = "INSERT INTO orders (article, count, shipped) VALUES (?, ?, FALSE) RETURNING id"
            let values = [SQLValue(command.article), SQLValue(command.count)]
            let orderID: Int64 = try unit.query(insert, values) { row in try row["id"] }[0]
            try unit.publish(OrderPlaced(orderID: orderID, article: command.article, count: command.count))
            return PlaceOrder.Reply(orderID: orderID)
        }
        service.handle(ShipOrder.self, in: journal) { command, _, unit in
            let orderID = SQLValue(command.orderID)
            let found: [Bool] = try unit.query("SELECT shipped FROM orders WHERE id = ?", [orderID]) { row in
                try row["shipped"]
            }
            guard let isShipped = found.first else { throw ShipOrder.Failure.unknownOrder }
            if isShipped { throw ShipOrder.Failure.alreadyShipped }
            try unit.execute("UPDATE orders SET shipped = TRUE WHERE id = ?", [orderID])
            try unit.publish(OrderShipped(orderID: command.orderID))
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
