import RelayCore
import RelayJournal
import Settlements

/// One of the two sources: `settlement-source orders FOLDER`, or `settlement-source payments FOLDER`. An order and a payment a second.
@main struct Source: RelayProgram {
    static func run() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("orders", 3):
            try await publish("org.example.Orders", Orders1.self, arguments[2]) {
                OrderPlaced(orderID: $0, cents: $0 % 9 * 100)
            }
        case ("payments", 3):
            try await publish("org.example.Payments", Payments1.self, arguments[2]) {
                PaymentReceived(orderID: $0, cents: $0 % 10 * 100)
            }
        default:
            throw RelayError(
                .invalidArgument, "usage: settlement-source orders FOLDER, or settlement-source payments FOLDER")
        }
    }
    private static func publish<E: DomainEvent>(
        _ name: String, _ interface: E.Interface.Type, _ folder: String, _ event: @escaping @Sendable (Int64) -> E
    ) async throws where E.Interface.Durability == Durable {
        let journal = try EventJournal(directory: folder)
        defer { journal.close() }
        try await journal.migrate("source", by: [Migration("numbers", "CREATE TABLE numbers (id INTEGER PRIMARY KEY)")])
        let service = try EventService(name: name, exporting: interface, journal: journal)
        try await service.run(alongside: {
            while true {
                try await service.unitOfWork { unit in
                    let insert: SQL = "INSERT INTO numbers DEFAULT VALUES RETURNING id"
                    let number = try unit.query(insert, as: Int64.self)[0]
                    try unit.publish(event(number))
                }
                try await Task.sleep(for: .seconds(1))
            }
        })
    }
}
