import BenchSupport
import RelayTestKit
import TransportReport

/// What others notice of a service 64 of whose handlers sleep for ten seconds: a command, a commit, an event of it, its status.
struct BlockedRow {
    static let title = "beside 64 handlers that block"
    static let handlers = 64
    static let goal = 2.0
    /// Shorter than they sleep.
    private static let seconds = 6.0

    /// The 99th percentiles, in microseconds.
    private struct Line: Codable {
        let command: Double
        let commit: Double
        let event: Double
        let status: Double
    }
    private struct HoldLine: Codable { let held: Int }
    private var rounds: [(free: Line, blocked: Line)] = []

    /// One round: first without, then with them.
    mutating func measure(on bus: PrivateBus) throws {
        let state = try TestFolder()
        let program = Peer.path(of: "relay-peer")
        let service = try Peer(program, ["blocked", bus.address, state.path], timeout: 120)
        try service.waitUntilReady()
        func notice() throws -> Line {
            let peer = try Peer(program, ["notice", bus.address, "\(Self.seconds)"], timeout: 60)
            try peer.waitUntilReady()
            try peer.go()
            let line = try peer.report(Line.self)
            try peer.finish()
            return line
        }
        let free = try notice()
        let holders = try Peer(program, ["hold", bus.address, "\(Self.handlers)"], timeout: 120)
        try holders.waitUntilReady()
        try holders.go()
        let blocked = try notice()
        let held = try holders.report(HoldLine.self).held
        guard held == Self.handlers else { throw BenchError(message: "only \(held) handlers blocked") }
        try holders.finish()
        try service.end()
        rounds.append((free, blocked))
    }

    private static let heads = ["p99 µs of a service", "without", "\(title)", "times"]
    private var rows: [[String]] {
        Self.parts.map { name, part in
            let free = Statistics.median(rounds.map { $0.free[keyPath: part] })
            let blocked = Statistics.median(rounds.map { $0.blocked[keyPath: part] })
            return [name] + [free, blocked, ratio(part)].map { $0.map { Number.short($0) } ?? "–" }
        }
    }
    var table: String {
        var table = Table("p99 of a service", Self.heads)
        for row in rows { table.add(row) }
        return table.text
    }
    var markdown: String { Page.table(Self.heads, rows) }
    var goals: [Goal] {
        Self.parts.map { name, part in Goal("\(Self.title): p99 of \(name), times", ratio(part), atMost: Self.goal) }
    }
    private static var parts: [(String, KeyPath<Line, Double>)] {
        [
            ("another caller's command", \.command), ("a commit", \.commit), ("an event's delivery", \.event),
            ("its status", \.status),
        ]
    }
    private func ratio(_ part: KeyPath<Line, Double>) -> Double? {
        Statistics.median(rounds.map { $0.blocked[keyPath: part] / $0.free[keyPath: part] })
    }
}
