import RelayCore
import RelayJournal
import Settlements

/// Follows both sources, and publishes what comes of them: `settlement-service FOLDER`.
@main struct SettlementService: RelayProgram {
    static func run() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw RelayError(.invalidArgument, "usage: settlement-service FOLDER, where its state is kept")
        }
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        defer { journal.close() }
        let waiting: SQL = "CREATE TABLE waiting (orderID INTEGER PRIMARY KEY, cents INTEGER NOT NULL)"
        try await journal.migrate("settlements", by: [Migration("waiting", waiting)])
        let service = try EventService(
            name: "org.example.Settlements", exporting: Settlements1.self, journal: journal)
        let orders = try EventRelay(following: "org.example.Orders", interfaces: Orders1.self)
        let payments = try EventRelay(following: "org.example.Payments", interfaces: Payments1.self)
        // What becomes of an event and how far the consumer has come are one transaction: each event counts once.
        let placed = try await journal.consume(OrderPlaced.self, of: orders, as: "orders") { order, unit in
            try book(order.orderID, -order.cents, &unit)
        } onGap: { gap, unit in
            try note(gap, "orders", &unit)
        }
        let received = try await journal.consume(PaymentReceived.self, of: payments, as: "payments") { payment, unit in
            try book(payment.orderID, payment.cents, &unit)
        } onGap: { gap, unit in
            try note(gap, "payments", &unit)
        }
        // If one relay gives up, all end.
        try await service.run(following: orders, payments, keeping: placed, received)
    }
    /// The first of an order and its payment waits for the other one.
    private static func book(_ orderID: Int64, _ cents: Int64, _ unit: inout UnitOfWork) throws {
        let delete: SQL = "DELETE FROM waiting WHERE orderID = \(orderID) RETURNING cents"
        if let other = try unit.query(delete, as: Int64.self).first {
            try unit.publish(OrderSettled(orderID: orderID, difference: cents + other))
        } else {
            try unit.execute("INSERT INTO waiting (orderID, cents) VALUES (\(orderID), \(cents))")
        }
        try unit.update(Balance.self) { $0.cents += cents }
    }
    private static func note(_ gap: Gap, _ source: String, _ unit: inout UnitOfWork) throws {
        try unit.publish(SourceMissed(source: source, what: gap.description))
        try unit.update(Balance.self) { $0.isExact = false }
    }
}
