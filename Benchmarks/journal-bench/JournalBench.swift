import Foundation
import RelayCore
import RelayJournal
import SyncCount

/// Durable events a second, beside a plain C program that does the same inserts and counter updates with the same settings.
///
/// The C program commits as many events, as many a transaction as ours did on average in the round before. Rounds are short, many
/// and interleaved, and who comes first changes, so that the disk's changing pace meets both alike. They are long enough for the
/// WAL to be written over for the most part, as it is in a service that runs: while it grows, each fsync also writes the file's
/// inode, and now and then a block with its extents, which depends on what the file system made of other files.
@main struct JournalBench {
    static let rounds = 15
    static let loads = [
        (publishers: 1, events: 2_000), (publishers: 8, events: 12_000), (publishers: 64, events: 64_000),
    ]
    static let goal = 0.8

    /// Events a second, and microseconds of a processor's work for one event.
    struct Pace {
        let rate: Double
        let work: Double
        init(_ events: Int, seconds: Double, work: Double) {
            (rate, self.work) = (Double(events) / seconds, work * 1e6 / Double(events))
        }
    }
    struct Figure {
        var ours: [Pace] = []
        var theirs: [Pace] = []
        var batches: [Double] = []
    }

    static func main() async throws {
        var figures = [Figure](repeating: Figure(), count: loads.count)
        for round in 0...rounds {
            for (index, load) in loads.enumerated() {
                let batch = figures[index].batches.last ?? 1
                let before = round.isMultiple(of: 2) ? nil : try theirs(load.events, batch)
                let (pace, shared) = try await ours(load.publishers, load.events)
                figures[index].batches.append(shared)
                let peer = try before ?? theirs(load.events, shared)
                // The first warms the disk up.
                if round == 0 { continue }
                figures[index].ours.append(pace)
                figures[index].theirs.append(peer)
            }
        }
        print("durable events of 104 bytes a second, synchronous=FULL; median of \(rounds) interleaved rounds")
        print(
            line(
                "publishers", "events a commit", "EventJournal", "25 % … 75 %", "CPU µs an event", "plain C",
                "25 % … 75 %", "CPU µs an event", "ratio"))
        var isMissed = false
        for (load, figure) in zip(loads, figures) {
            let (ours, theirs) = (figure.ours.map(\.rate), figure.theirs.map(\.rate))
            let ratio = median(ours) / median(theirs)
            if ratio < goal { isMissed = true }
            print(
                line(
                    "\(load.publishers)", text(median(figure.batches), 1), text(median(ours)), middle(ours),
                    text(median(figure.ours.map(\.work)), 1), text(median(theirs)), middle(theirs),
                    text(median(figure.theirs.map(\.work)), 1), text(ratio, 2)))
        }
        print(isMissed ? "MISSED: the goal is \(goal) of the C program's" : "all reach the goal of \(goal)")
        if isMissed { exit(1) }
    }

    /// Also how many events shared a commit.
    static func ours(_ publishers: Int, _ events: Int) async throws -> (Pace, batch: Double) {
        let directory = try Directory()
        let journal = try EventJournal(directory: directory.path)
        let service = try EventService(
            name: "org.eventrelay.JournalBench", exporting: JournalBench1.self, journal: journal)
        let text = String(repeating: "x", count: 64)
        let (start, worked, syncs) = (ContinuousClock.now, work(), sync_count())
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
        let (time, spent, commits) = (ContinuousClock.now - start, work() - worked, sync_count() - syncs)
        journal.close()
        let pace = Pace(events, seconds: seconds(time), work: spent)
        return (pace, max(1, Double(events) / Double(max(1, commits))))
    }
    static func theirs(_ events: Int, _ batch: Double) throws -> Pace {
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
        let figures = output.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
        guard process.terminationStatus == 0, figures.count == 2 else {
            throw RelayError(.unavailable, "sqlite-peer ended with \(process.terminationStatus): \(output)")
        }
        return Pace(events, seconds: figures[0], work: figures[1])
    }
    /// Seconds that a processor was busy with this program.
    static func work() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return Double(user.tv_sec + system.tv_sec) + Double(user.tv_usec + system.tv_usec) / 1e6
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
