import Foundation

/// All measurements of a run: as a table of medians, as JSON, and held against the goals.
struct Report {
    /// Delivered throughput at saturation, against the libdbus pair's.
    static let throughputGoal = 1.4

    private let options: Options
    private var saturation: [Pair: [Measurement]] = [:]
    private var paced: [Pair: [Measurement]] = [:]
    init(options: Options) { self.options = options }

    mutating func add(_ measurement: Measurement, of pair: Pair, under load: Load) {
        switch load {
        case .saturation: saturation[pair, default: []].append(measurement)
        case .paced: paced[pair, default: []].append(measurement)
        }
    }

    var table: String {
        section("at saturation, \(options.events) events", saturation, comparesLatency: false)
            + section("at \(options.rate)/s, for \(options.seconds) s", paced, comparesLatency: true)
            + "Medians of \(options.rounds) rounds; latency from before publish to handler; CPU per event, user and system; (ratio to libdbus).\n"
    }

    /// At saturation latency is the length of a queue: nothing to compare.
    private func section(_ title: String, _ results: [Pair: [Measurement]], comparesLatency: Bool) -> String {
        var text =
            "\n\(title)\n"
            + Self.row(["", "delivered/s", "delivered", "p50 µs", "p99 µs", "CPU sender", "receiver", "bus"])
        let base = results[.libdbus]
        for pair in options.pairs {
            guard let rounds = results[pair] else { continue }
            let rate = Self.median(rounds, \.deliveredPerSecond)
            let p50 = Self.median(rounds, \.p50Microseconds)
            let faults = rounds.reduce(0) { $0 + $1.duplicates + $1.reordered }
            text += Self.row([
                pair.label,
                String(format: "%.0f", rate) + Self.ratio(rate, base.map { Self.median($0, \.deliveredPerSecond) }),
                String(format: "%.2f %%", Self.median(rounds, \.deliveredPercent)),
                String(format: "%.1f", p50)
                    + Self.ratio(p50, comparesLatency ? base.map { Self.median($0, \.p50Microseconds) } : nil),
                String(format: "%.1f", Self.median(rounds, \.p99Microseconds)),
                String(format: "%.1f", Self.median(rounds, \.senderMicroseconds)),
                String(format: "%.1f", Self.median(rounds, \.receiverMicroseconds)),
                String(format: "%.1f", Self.median(rounds, \.daemonMicroseconds)),
            ])
            if faults > 0 { text += "  \(pair.label): \(faults) events twice or out of order\n" }
        }
        return text
    }

    /// Our figures beside those that they must reach; nil unless both pairs were measured.
    private var goals: (ratio: Double, p50: Double, limit: Double)? {
        guard let ours = saturation[.relay], let theirs = saturation[.libdbus], let oursPaced = paced[.relay],
            let theirsPaced = paced[.libdbus]
        else { return nil }
        return (
            Self.median(ours, \.deliveredPerSecond) / Self.median(theirs, \.deliveredPerSecond),
            Self.median(oursPaced, \.p50Microseconds), Self.median(theirsPaced, \.p50Microseconds)
        )
    }
    /// Whether a goal was measured and missed. What is no number is missed, too.
    var isMissed: Bool { goals.map { !($0.ratio >= Self.throughputGoal && $0.p50 <= $0.limit) } ?? false }
    /// One line: whether the goals are met.
    var verdict: String {
        guard let goals else { return "goals: not measured (they need the relay and the libdbus pair)" }
        func state(_ met: Bool) -> String { met ? "met" : "NOT MET" }
        return String(
            format: "goals: throughput %.2f × libdbus (at least %.1f): %@; p50 %.1f µs (at most libdbus's %.1f): %@",
            goals.ratio, Self.throughputGoal, state(goals.ratio >= Self.throughputGoal), goals.p50, goals.limit,
            state(goals.p50 <= goals.limit))
    }

    var json: Data {
        get throws {
            struct File: Codable {
                let events: Int
                let rate: Int
                let seconds: Int
                let processors: Int
                let saturation: [String: [Measurement]]
                let paced: [String: [Measurement]]
            }
            func byName(_ results: [Pair: [Measurement]]) -> [String: [Measurement]] {
                Dictionary(uniqueKeysWithValues: results.map { ($0.key.rawValue, $0.value) })
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(
                File(
                    events: options.events, rate: options.rate, seconds: options.seconds,
                    processors: ProcessInfo.processInfo.activeProcessorCount, saturation: byName(saturation),
                    paced: byName(paced)))
        }
    }

    static func median(_ rounds: [Measurement], _ value: (Measurement) -> Double) -> Double {
        let sorted = rounds.map(value).sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
    private static func ratio(_ value: Double, _ base: Double?) -> String {
        guard let base, base > 0 else { return "" }
        return String(format: " (%.2f)", value / base)
    }
    private static func row(_ cells: [String]) -> String {
        let widths = [12, 16, 11, 17, 10, 11, 9, 6]
        return zip(cells, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 0 ? cell.0 + padding : padding + cell.0
        }.joined(separator: " ") + "\n"
    }
}
