import Foundation
import RelayCore
import RelayJournal
import SyncCount

/// Durable events a second, beside a plain C program that does the same inserts and counter updates with the same settings.
///
/// The C program commits as many events, as many a transaction as ours did on average in the round before. Rounds are short, many
/// and interleaved, and who comes first changes, so that the disk's changing pace meets both alike.
@main struct JournalBench {
    static let rounds = 25
    static let loads = [(publishers: 1, events: 100), (publishers: 8, events: 600), (publishers: 64, events: 6_400)]
    static let goal = 0.8

    struct Figure {
        var ours: [Double] = []
        var theirs: [Double] = []
        var batches: [Double] = []
    }

    static func main() async throws {
        var figures = [Figure](repeating: Figure(), count: loads.count)
        for round in 0...rounds {
            for (index, load) in loads.enumerated() {
                let batch = figures[index].batches.last ?? 1
                let before = round.isMultiple(of: 2) ? nil : try theirs(load.events, batch)
                let (rate, shared) = try await ours(load.publishers, load.events)
                figures[index].batches.append(shared)
                let peer = try before ?? theirs(load.events, shared)
                // The first warms the disk up.
                if round == 0 { continue }
                figures[index].ours.append(rate)
                figures[index].theirs.append(peer)
            }
        }
        print("durable events of 104 bytes a second, synchronous=FULL; median of \(rounds) interleaved rounds")
        print(line("publishers", "events a commit", "EventJournal", "25 % … 75 %", "plain C", "25 % … 75 %", "ratio"))
        var isMissed = false
        for (load, figure) in zip(loads, figures) {
            let ratio = median(figure.ours) / median(figure.theirs)
            if ratio < goal { isMissed = true }
            print(
                line(
                    "\(load.publishers)", text(median(figure.batches), 1), text(median(figure.ours)),
                    middle(figure.ours), text(median(figure.theirs)), middle(figure.theirs), text(ratio, 2)))
        }
        print(isMissed ? "MISSED: the goal is \(goal) of the C program's" : "all reach the goal of \(goal)")
        if isMissed { exit(1) }
    }

    /// Events a second, and how many shared a commit.
    static func ours(_ publishers: Int, _ events: Int) async throws -> (rate: Double, batch: Double) {
        let directory = try Directory()
        let journal = try EventJournal(directory: directory.path)
        let service = try EventService(
            name: "org.eventrelay.JournalBench", exporting: JournalBench1.self, journal: journal)
        let text = String(repeating: "x", count: 64)
        let (start, syncs) = (ContinuousClock.now, sync_count())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<publishers {
                group.addTask {
                    for number in 0..<events / publishers {
                        try await service.publish(Booked(amount: Int64(number), text: text))
                    }
                }
            }
            try await group.waitForAll()
        }
        let (time, commits) = (ContinuousClock.now - start, sync_count() - syncs)
        journal.close()
        return (Double(events) / seconds(time), max(1, Double(events) / Double(max(1, commits))))
    }
    static func theirs(_ events: Int, _ batch: Double) throws -> Double {
        let directory = try Directory()
        let process = Process()
        let here = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = here.appendingPathComponent("sqlite-peer")
        process.arguments = [directory.path, "\(events)", "\(batch)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let seconds = Double(output.trimmingCharacters(in: .newlines)) else {
            throw RelayError(.unavailable, "sqlite-peer ended with \(process.terminationStatus): \(output)")
        }
        return Double(events) / seconds
    }

    static func middle(_ values: [Double]) -> String {
        let values = values.sorted()
        return "\(text(values[values.count / 4])) … \(text(values[values.count * 3 / 4]))"
    }
    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    static func seconds(_ time: Duration) -> Double {
        Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }
    static func text(_ value: Double, _ digits: Int = 0) -> String { String(format: "%.\(digits)f", value) }
    static func line(_ columns: String...) -> String {
        columns.map { String(repeating: " ", count: max(1, 17 - $0.count)) + $0 }.joined()
    }
}

/// For one run; removed with it.
final class Directory {
    let path: String
    init() throws {
        path = NSTemporaryDirectory() + "/journal-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}

enum JournalBench1: EventInterface {
    static let name = "org.eventrelay.JournalBench1"
    static var contract: Contract<Self> { Booked.self }
}
struct Booked: DomainEvent {
    typealias Interface = JournalBench1
    var amount: Int64
    var text: String
}
