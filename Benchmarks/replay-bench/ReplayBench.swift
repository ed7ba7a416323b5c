import Foundation
import RelayCore
import RelayTestKit
import ReplayScan

/// Late subscribers with a million events to read: how fast one reads them into a typed handler, beside a plain C scan of the same
/// rows; and whether three catch up while others publish, and what that costs those.
///
/// Service, subscriber and bus are processes of their own. Measurements with and without a replay are interleaved, so that a
/// change of the machine's pace meets both.
@main enum ReplayBench {
    static let events = 1_000_000
    static let rounds = 5
    static let publishers = 8
    static let late = 3
    static let goal = 1_000_000.0
    static let scanGoal = 0.4
    static let slowDownGoal = 0.1
    /// How long is published beside the late subscribers, in seconds.
    static let patience = 20.0

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "serve":
            try await ServeRole.run(address: arguments[1], directory: arguments[2], events: Int(arguments[3])!)
        case "subscribe":
            try await SubscribeRole.run(address: arguments[1], events: Int(arguments[2])!)
        case "late": try await SubscribeRole.runLate(address: arguments[1])
        default:
            if try await !measure() { exit(1) }
        }
    }

    /// False when a goal is missed.
    private static func measure() async throws -> Bool {
        let bus = try PrivateBus()
        let directory = FileManager.default.temporaryDirectory.appending(path: "replay-bench-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        print("\(events) events in the journal, \(rounds) rounds")
        let service = try Child("serve", bus.address, directory, "\(events)")
        defer { service.end() }
        _ = try service.line("ready")
        let relay = try EventRelay(following: Past1.service, on: bus.bus, interfaces: Past1.self)
        relay.activate()
        _ = try await publish(relay, 1_000)

        let most = try await publish(relay, 20_000)
        var (rates, scans): ([Double], [Double]) = ([], [])
        for _ in 1...rounds {
            scans.append(try scan(directory + "/journal.sqlite"))
            let alone = try Child("subscribe", bus.address, "\(events)")
            _ = try alone.line("begun")
            rates.append(Double(events) / (Double(try alone.line("took "))! / 1e6))
        }
        let (rate, ratio) = (median(rates), median(zip(rates, scans).map { $0 / $1 }))
        row("replayed into a typed handler, events/s", rate, rates)
        row("the same rows scanned by plain C, rows/s", median(scans), scans)

        let half = most / 2
        let count = Int(half * patience)
        let quiet = try await publish(relay, count / 4, perSecond: half)
        let followers = try (0..<late).map { _ in try Child("late", bus.address) }
        for follower in followers { _ = try follower.line("begun") }
        let during = try await publish(relay, count, perSecond: half)
        let converged = followers.filter { !$0.isRunning }
        for follower in converged { _ = try follower.line("converged ") }
        relay.invalidate()
        let slowDown = 1 - during / quiet
        row("durable publishing, \(publishers) publishers, events/s", most, [most])
        row("the same at half of that", quiet, [quiet])
        row("the same beside \(late) late subscribers", during, [during])
        return [
            verdict("replay, events/s", rate, atLeast: goal),
            verdict("replay, of the plain scan", ratio, atLeast: scanGoal),
            verdict(
                "late subscribers that catch up within \(Int(patience)) s", Double(converged.count),
                atLeast: Double(late)),
            verdict("publishing beside them, of that without", 1 - slowDown, atLeast: 1 - slowDownGoal),
        ].allSatisfy { $0 }
    }
    private static func verdict(_ name: String, _ value: Double, atLeast goal: Double) -> Bool {
        let text = { (value: Double) in String(format: value < 10 ? "%.2f" : "%.0f", value) }
        print(value >= goal ? "meets " : "MISSED", "\(name): \(text(value)), the goal is \(text(goal))")
        return value >= goal
    }
    /// Rows a second, of all that the journal has.
    private static func scan(_ path: String) throws -> Double {
        var sum: UInt64 = 0
        let start = ContinuousClock.now
        let count = replay_scan(path, &sum)
        guard count >= events else { throw Child.Failure(message: "the scan of \(path) found \(count) rows") }
        return Double(count) / (Double((ContinuousClock.now - start).microseconds) / 1e6)
    }
    /// Events a second.
    private static func publish(_ relay: EventRelay, _ count: Int, perSecond: Double = 0) async throws -> Double {
        let reply = try await relay.call(
            Publish(count: Int64(count), publishers: Int64(publishers), perSecond: Int64(perSecond)),
            timeout: .seconds(300))
        return Double(count) / (Double(reply.microseconds) / 1e6)
    }
    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    private static func row(_ name: String, _ value: Double, _ all: [Double]) {
        let text = { (value: Double) in String(format: "%.0f", value) }
        print(
            name.padding(toLength: 54, withPad: " ", startingAt: 0), text(value),
            " (\(text(all.min()!)) … \(text(all.max()!)))")
    }
}
