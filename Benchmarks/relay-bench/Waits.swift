import Foundation
import RelayTestKit

/// The processor time of an event at each rate: by the rule, and where the relay always spins or always sleeps.
enum Waits {
    static let rates = [1_000, 2_000, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 70_000, 100_000]
    static let ways = ["rule", "spin", "sleep"]
    static let rounds = 3
    static let seconds = 1.0
    /// Of the better of always spinning and always sleeping.
    static let goal = 1.3
    /// Where events come sooner than this, in events a second, the relay is to spin whatever it costs: a sleep would
    /// delay each of them.
    static let spinning = 50_000

    /// What an event costs, in microseconds: the relay, and the service.
    struct Cost {
        var relay = 0.0
        var service = 0.0

        /// Both, without what the service's pace costs by itself: what is more is for waking the relay. A sleep that only
        /// moved its cost to the publisher would be none the cheaper.
        func total(besides pace: Double) -> Double { relay + max(service - pace, 0) }
    }

    /// False when the goal is missed.
    static func measure() throws -> Bool {
        let bus = try PrivateBus()
        print("the wait for the next event: µs of the relay's processor an event, and of the service's")
        print("events/s      rule           always spin    always sleep   of the better")
        var worst = 0.0
        for rate in rates {
            var costs: [String: [Cost]] = [:]
            for _ in 1...rounds {
                for way in ways { costs[way, default: []].append(try cost(of: way, at: rate, bus.address)) }
            }
            let medians = ways.map { way in median(costs[way]!) }
            // A relay that spins is not woken.
            let totals = medians.map { $0.total(besides: medians[1].service) }
            let ratio = totals[0] / min(totals[1], totals[2])
            if rate < spinning { worst = max(worst, ratio) }
            let columns = medians.map { String(format: "%5.1f + %-5.1f", $0.relay, $0.service) }
            print(
                "\(rate)".padding(toLength: 10, withPad: " ", startingAt: 0), columns.joined(separator: "  "),
                String(format: " %.2f", ratio))
        }
        return RelayBench.verdict(
            "the rule, of the better of spinning and sleeping, below \(spinning)/s", worst, atMost: goal)
    }
    private static func cost(of way: String, at rate: Int, _ address: String) throws -> Cost {
        let service = try Child("serve", address)
        defer { service.end() }
        _ = try service.numbers("ready")
        let relay = try Child("follow", address, way)
        defer { relay.end() }
        _ = try relay.numbers("ready")
        // The first ones teach the rule.
        _ = try publish(rate / 5, rate, service, relay)
        return try publish(Int(Double(rate) * seconds), rate, service, relay)
    }
    private static func publish(_ count: Int, _ rate: Int, _ service: Child, _ relay: Child) throws -> Cost {
        try relay.send("begin")
        let before = try relay.numbers("had")
        try service.send("publish \(count) \(rate)")
        let published = try service.numbers("published")
        var after: [UInt64] = []
        repeat {
            try relay.send("end")
            after = try relay.numbers("had")
        } while after[0] - before[0] < count
        return Cost(
            relay: Double(after[1] - before[1]) / Double(count) / 1e3,
            service: Double(published[0] + published[1]) / Double(count) / 1e3)
    }
    private static func median(_ costs: [Cost]) -> Cost { costs.sorted { $0.relay < $1.relay }[costs.count / 2] }
}
