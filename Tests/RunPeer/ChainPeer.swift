import RelayCore
import RelayJournal
import TestSupport

/// The service of `Chain1`: `chain --bus ADDRESS --state-directory FOLDER`. A number that comes twice ends it.
enum ChainPeer: RelayProgram {
    static func run() async throws {
        let options = ProgramOptions(Array(CommandLine.arguments.dropFirst()))
        let bus = Bus.address(options.required("bus"))
        let journal = try await EventJournal.open(
            directory: options.required("state-directory"), waiting: .seconds(300))
        try await journal.migrate(
            "chain",
            by: [
                Migration(
                    "sum", "CREATE TABLE seen (number INTEGER PRIMARY KEY)",
                    "CREATE TABLE total (sum INTEGER NOT NULL)",
                    "INSERT INTO total VALUES (0)")
            ])
        let service = try EventService(name: Chain1.service, on: bus, exporting: Chain1.self, journal: journal)
        let relay = try EventRelay(following: Ledger1.service, on: bus, interfaces: Ledger1.self)
        let chain = try await journal.consume(Ledger1.Entry.self, of: relay, as: "chain") { entry, unit in
            try unit.execute("INSERT INTO seen (number) VALUES (\(entry.number))")
            let sum = try unit.query(
                "UPDATE total SET sum = sum + \(entry.number) RETURNING sum", as: Int64.self)[0]
            try unit.publish(Chain1.Copied(number: entry.number, sum: sum))
        } onGap: { gap, unit in
            try unit.publish(Chain1.Missed(reason: gap.reason.rawValue))
        }
        try await service.run(following: relay, keeping: chain, onReady: { RunPeer.say("consuming") })
    }
}
