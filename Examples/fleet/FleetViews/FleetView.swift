import RelayCore

/// Makes lines of the model: a pure function of it, of the time and of the terminal's size.
public struct FleetView: Sendable {
    public struct Line: Equatable, Sendable {
        public enum Style: Sendable { case title, heading, plain, warning, faint }
        public var text: String
        public var style = Style.plain
    }
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    private enum Column: CaseIterable {
        case unit, state, transport, rate, celsius, age, p50, p99, received, missing
        var title: String {
            switch self {
            case .unit: "UNIT"
            case .state: "STATE"
            case .transport: "BY"
            case .rate: "RATE/S"
            case .celsius: "LAST"
            case .age: "AGE"
            case .p50: "P50"
            case .p99: "P99"
            case .received: "SAMPLES"
            case .missing: "MISSING"
            }
        }
        var width: Int {
            switch self {
            case .unit: 7
            case .state: 7
            case .transport: 6
            case .rate: 6
            case .celsius: 7
            case .age, .p50, .p99: 6
            case .received: 9
            case .missing: 7
            }
        }
        var isText: Bool { self == .unit || self == .state || self == .transport }
        /// What is left out first, where there is no room.
        static let leastImportant: [Self] = [.p50, .celsius, .age, .transport, .p99, .received, .rate]
    }
    private static let leastGraph = 8

    /// At most as many lines as the terminal has, none wider than it.
    public func lines(_ model: FleetModel, now: Timestamp) -> [Line] {
        let columns = columns
        let used = columns.reduce(-1) { $0 + 1 + $1.width }
        let graph = width - used - 2 >= Self.leastGraph ? min(width - used - 2, FleetModel.history) : 0
        func row(_ cells: [String], _ graph: String) -> String {
            let parts = zip(columns, cells).map { column, cell in
                let blanks = String(repeating: " ", count: max(0, column.width - cell.count))
                return column.isText ? cell + blanks : blanks + cell
            }
            let line = parts.joined(separator: " ") + (graph.isEmpty ? "" : "  " + graph)
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        var lines = summary(model).map { Line(text: $0, style: .title) }
        lines += [Line(text: ""), Line(text: row(columns.map(\.title), ""), style: .heading)]
        for unit in model.units {
            let cells = columns.map { cell($0, unit, now) }
            lines.append(
                Line(
                    text: row(cells, Self.graph(unit.rates, width: graph)),
                    style: unit.state == .live ? .plain : .warning))
        }
        if !model.news.isEmpty { lines.append(Line(text: "")) }
        for news in model.news.reversed() {
            let text = "\(Self.age(news.at, now)) ago  " + news.sentence
            lines += wrapped(text, indent: 0).map { Line(text: $0, style: .faint) }
        }
        return Array(lines.prefix(height)).map { Line(text: String($0.text.prefix(width)), style: $0.style) }
    }
    private func summary(_ model: FleetModel) -> [String] {
        let live = model.units.count { $0.state == .live }
        let rate = model.units.reduce(0) { $0 + $1.rate }
        let facts = [
            "\(live) of \(model.units.count) units are live", "\(Self.grouped(UInt64(max(0, rate)))) samples a second",
            "\(model.count(by: "ring")) by ring", "\(model.count(by: "signal")) by signals",
            "\(Self.grouped(model.received)) samples in all", Self.missing(model.missing, model.openEnds) + " missing",
        ]
        return wrapped(facts.joined(separator: ", "), indent: 0)
    }
    private var columns: [Column] {
        var columns = Column.allCases
        for column in Column.leastImportant where columns.reduce(-1, { $0 + 1 + $1.width }) > width {
            columns.removeAll { $0 == column }
        }
        return columns
    }
    private func cell(_ column: Column, _ unit: FleetModel.Unit, _ now: Timestamp) -> String {
        switch column {
        case .unit: unit.name
        case .state: unit.state.rawValue
        case .transport: unit.transport ?? "-"
        case .rate: Self.grouped(UInt64(max(0, unit.rate.rounded())))
        case .celsius: unit.celsius.map { Self.tenths($0) + " °C" } ?? "-"
        case .age: unit.lastAt.map { Self.age($0, now) } ?? "-"
        case .p50: unit.latency(0.5).map(Self.time) ?? "-"
        case .p99: unit.latency(0.99).map(Self.time) ?? "-"
        case .received: Self.grouped(unit.account.received)
        case .missing: Self.missing(unit.account.missing, unit.account.openEnds)
        }
    }

    // MARK: Texts

    /// What is known to be missing; of a run that was killed, nobody knows its end.
    static func missing(_ count: UInt64, _ openEnds: Int) -> String {
        openEnds > 0 ? ">" + grouped(count) : count == 0 ? "-" : grouped(count)
    }
    static func grouped(_ value: UInt64) -> String {
        var digits = Array(String(value))
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: index)
            index -= 3
        }
        return String(digits)
    }
    static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return (tenths < 0 ? "-" : "") + "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
    /// `85 µs`, `1.2 ms`, `12 s`
    static func time(_ microseconds: UInt64) -> String {
        switch microseconds {
        case ..<1_000: "\(microseconds) µs"
        case ..<100_000: "\(microseconds / 1_000).\(microseconds / 100 % 10) ms"
        case ..<1_000_000: "\(microseconds / 1_000) ms"
        default: "\(min(9_999, microseconds / 1_000_000)) s"
        }
    }
    static func age(_ time: Timestamp, _ now: Timestamp) -> String {
        let seconds = now > time ? (now.microseconds - time.microseconds) / 1_000_000 : 0
        return seconds < 100 ? "\(seconds) s" : seconds < 6_000 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }
    /// The rates, the highest as the fullest block; blank for none.
    static func graph(_ rates: [Double], width: Int) -> String {
        let shown = rates.suffix(width)
        let highest = shown.max() ?? 0
        let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        let line = shown.map { rate -> Character in
            rate > 0 && highest > 0 ? blocks[min(7, max(0, Int((rate / highest * 8).rounded()) - 1))] : " "
        }
        return String(repeating: " ", count: max(0, width - line.count)) + String(line)
    }
    private func wrapped(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
