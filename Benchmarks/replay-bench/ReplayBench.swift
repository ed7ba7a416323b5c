import Foundation
import RelayCore
import RelayTestKit

/// A late subscriber with a million events to read: how fast it reads them into a typed handler, and what that costs those
/// who publish meanwhile.
///
/// Service, subscriber and bus are processes of their own. Measurements with and without a replay are interleaved, so that a
/// change of the machine's pace meets both.
@main enum ReplayBench {
    static let events = 1_000_000
    static let rounds = 5
    static let publishers = 8
    static let goal = 200_000.0
    static let slowDownGoal = 0.2

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "serve":
            try await ServeRole.run(address: arguments[1], directory: arguments[2], events: Int(arguments[3])!)
        case "subscribe":
            try await SubscribeRole.run(address: arguments[1], events: Int(arguments[2])!)
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

        // As many as take about a second: a replay takes longer.
        let count = max(1_000, Int(try await publish(relay, 2_000)))
        var (rates, quiet, during): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 1...rounds {
            let alone = try Child("subscribe", bus.address, "\(events)")
            _ = try alone.line("begun")
            rates.append(Double(events) / (Double(try alone.line("took "))! / 1e6))
            quiet.append(try await publish(relay, count))
            let beside = try Child("subscribe", bus.address, "\(events)")
            _ = try beside.line("begun")
            during.append(try await publish(relay, count))
            if !beside.isRunning { print("a replay was over before the publishing beside it") }
            _ = try beside.line("took ")
        }
        relay.invalidate()
        let rate = median(rates)
        let slowDown = 1 - median(during) / median(quiet)
        row("replayed into a typed handler, events/s", rate, rates)
        row("durable publishing, \(publishers) publishers, events/s", median(quiet), quiet)
        row("the same while a subscriber replays", median(during), during)
        print(
            "replay \(rate >= goal ? "meets" : "MISSES") the goal of \(Int(goal)) events/s;",
            "publishing is \(String(format: "%.0f", slowDown * 100)) % slower meanwhile,",
            slowDown <= slowDownGoal ? "within the goal of 20 %" : "OVER the goal of 20 %")
        return rate >= goal && slowDown <= slowDownGoal
    }
    /// Events a second.
    private static func publish(_ relay: EventRelay, _ count: Int) async throws -> Double {
        let reply = try await relay.call(
            Publish(count: Int64(count), publishers: Int64(publishers)), timeout: .seconds(120))
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
