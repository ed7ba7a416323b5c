import Foundation
import TransportReport

/// All measurements of a run: as tables of medians, as JSON, and held against the goals.
struct Report {
    private var rounds: [Load: [Contender: [Measurement]]] = [:]

    mutating func add(_ measurement: Measurement, of contender: Contender, under load: Load) {
        rounds[load, default: [:]][contender, default: []].append(measurement)
    }

    func table(of load: Load) -> String {
        let best = bestPeer(under: load)
        var heads = ["", "calls/s", "× best", "p50 µs", "× best", "p99 µs", "answered"]
        heads += ["CPU µs a call: caller", "service", "bus"]
        if load.kind == .beside { heads.append("events delivered") }
        var table = Table("\(load)", heads)
        for contender in load.contenders {
            func text(_ value: KeyPath<Measurement, Double>) -> String { self.text(value, contender, load) }
            func time(_ value: KeyPath<Measurement, Double?>) -> String { self.time(value, contender, load) }
            var row = [contender.label, text(\.callsPerSecond), ratio(\.callsPerSecond, contender, to: best, load)]
            row += [time(\.p50), ratio(\.p50, contender, to: best, load), time(\.p99)]
            row += ["\(text(\.answeredPercent)) %", text(\.callerCPU), text(\.serviceCPU), text(\.daemonCPU)]
            if load.kind == .beside {
                row.append(median(\.deliveredPercent, contender, load).map { "\(Number.short($0)) %" } ?? "–")
            }
            table.add(row)
        }
        return table.text
    }

    /// Each against sd-bus in the same rounds.
    var goals: [Goal] {
        func ours(_ value: KeyPath<Measurement, Double>, _ load: Load) -> Double? {
            ratios(value, .relay, to: .sdbus, load)
        }
        func ours(_ value: KeyPath<Measurement, Double?>, _ load: Load) -> Double? {
            ratios(value, .relay, to: .sdbus, load)
        }
        let one = Load(kind: .volatile, callers: 1, flight: 1)
        return [
            Goal("one after the other: p50 over sd-bus's", ours(\.p50, one), atMost: 1.25),
            Goal("one after the other: p99 over sd-bus's", ours(\.p99, one), atMost: 1.5),
            Goal(
                "64 in flight from one connection: calls/s over sd-bus's",
                ours(\.callsPerSecond, Load(kind: .volatile, callers: 1, flight: 64)), atLeast: 0.7),
            Goal(
                "64 in flight from eight connections: calls/s over sd-bus's",
                ours(\.callsPerSecond, Load(kind: .volatile, callers: 8, flight: 8)), atLeast: 0.8),
            Goal(
                "a durable command, one after the other: p50 over the C program's",
                ours(\.p50, Load(kind: .durable, callers: 1, flight: 1)), atMost: 1.25),
        ]
    }

    var json: Data {
        get throws {
            struct Row: Codable {
                let load: Load
                let contender: Contender
                let rounds: [Measurement]
            }
            let rows = Load.all.flatMap { load in
                load.contenders.compactMap { contender in
                    rounds[load]?[contender].map { Row(load: load, contender: contender, rounds: $0) }
                }
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(rows)
        }
    }

    func text(_ value: KeyPath<Measurement, Double>, _ contender: Contender, _ load: Load) -> String {
        median(value, contender, load).map { Number.short($0) } ?? "–"
    }
    func time(_ value: KeyPath<Measurement, Double?>, _ contender: Contender, _ load: Load) -> String {
        median(value, contender, load).map { Number.short($0) } ?? "never"
    }

    /// The one with the most calls a second.
    private func bestPeer(under load: Load) -> Contender? {
        load.contenders.filter(\.isPeer).max {
            median(\.callsPerSecond, $0, load) ?? 0 < median(\.callsPerSecond, $1, load) ?? 0
        }
    }
    private func values(_ value: KeyPath<Measurement, Double>, _ contender: Contender, _ load: Load) -> [Double] {
        rounds[load]?[contender]?.map { $0[keyPath: value] } ?? []
    }
    /// What never came is infinitely late.
    private func values(_ value: KeyPath<Measurement, Double?>, _ contender: Contender, _ load: Load) -> [Double] {
        rounds[load]?[contender]?.map { $0[keyPath: value] ?? .infinity } ?? []
    }
    private func median(_ value: KeyPath<Measurement, Double>, _ contender: Contender, _ load: Load) -> Double? {
        Statistics.median(values(value, contender, load))
    }
    private func median(_ value: KeyPath<Measurement, Double?>, _ contender: Contender, _ load: Load) -> Double? {
        Statistics.median(values(value, contender, load)).flatMap { $0.isFinite ? $0 : nil }
    }
    /// The median of the rounds' ratios: what moves the machine's pace moves both sides of each.
    private func ratios(
        _ value: KeyPath<Measurement, Double>, _ ours: Contender, to theirs: Contender, _ load: Load
    ) -> Double? {
        Statistics.median(zip(values(value, ours, load), values(value, theirs, load)).map { $0 / $1 })
    }
    private func ratios(
        _ value: KeyPath<Measurement, Double?>, _ ours: Contender, to theirs: Contender, _ load: Load
    ) -> Double? {
        Statistics.median(zip(values(value, ours, load), values(value, theirs, load)).map { $0 / $1 })
    }
    private func ratio(
        _ value: KeyPath<Measurement, Double>, _ ours: Contender, to theirs: Contender?, _ load: Load
    ) -> String {
        theirs.flatMap { ratios(value, ours, to: $0, load) }.map { Number.short($0) } ?? "–"
    }
    private func ratio(
        _ value: KeyPath<Measurement, Double?>, _ ours: Contender, to theirs: Contender?, _ load: Load
    ) -> String {
        theirs.flatMap { ratios(value, ours, to: $0, load) }.map { Number.short($0) } ?? "–"
    }
}
