import RelayCore
import RelayJournal
import Shop
import ShopDesk

/// The shop's back office: `shop-service DIRECTORY`.
@main struct ShopService: RelayProgram {
    static func run() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw RelayError(.invalidArgument, "which folder for the journal?")
        }
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        let desk = try await OrderDesk(journal)
        let service = try EventService(
            name: "org.example.Shop", exporting: Orders1.self, Climate1.self, journal: journal)
        desk.open(on: service)
        // The sensor: ten measurements a second, whoever listens.
        try await service.run(alongside: {
            for number in 0... {
                try service.publish(TemperatureMeasured(celsius: -18 + Double(number % 10) / 10, sensor: 1))
                try await Task.sleep(for: .milliseconds(100))
            }
        })
    }
}
