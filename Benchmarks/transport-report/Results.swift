public import Foundation

/// All figures of a run of the benchmark, by cell and round.
public struct Results: Codable, Sendable {
    public struct Machine: Codable, Hashable, Sendable {
        public let processor: String
        public let processors: Int
        public let kernel: String
        public init(processor: String, processors: Int, kernel: String) {
            (self.processor, self.processors, self.kernel) = (processor, processors, kernel)
        }
    }
    public struct Row: Codable, Sendable {
        public let cell: Cell
        /// By the metric's name: one value a round.
        public var figures: [String: [Double]]
    }
    public let machine: Machine
    public let rounds: Int
    public let isQuick: Bool
    public private(set) var rows: [Row]

    public init(machine: Machine, plan: Plan, isQuick: Bool) {
        (self.machine, self.isQuick, rounds) = (machine, isQuick, plan.rounds)
        rows = plan.cells.map { Row(cell: $0, figures: [:]) }
    }
    public mutating func add(_ figures: [Metric: Double], to cell: Cell) {
        guard let place = rows.firstIndex(where: { $0.cell == cell }) else { return }
        for (metric, value) in figures { rows[place].figures[metric.rawValue, default: []].append(value) }
    }

    // MARK: JSON, in which a time that is never reached is a word

    private static let never = (positive: "never", negative: "-never", undefined: "undefined")
    public init(json: Data) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: Self.never.positive, negativeInfinity: Self.never.negative, nan: Self.never.undefined)
        self = try decoder.decode(Results.self, from: json)
    }
    public var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: Self.never.positive, negativeInfinity: Self.never.negative, nan: Self.never.undefined)
            return try encoder.encode(self)
        }
    }

    // MARK: Values

    /// One value a round; none where it was not measured.
    public func values(_ metric: Metric, of cell: Cell) -> [Double] {
        rows.first { $0.cell == cell }?.figures[metric.rawValue] ?? []
    }
    public func median(_ metric: Metric, of cell: Cell) -> Double? { Statistics.median(values(metric, of: cell)) }
    /// The median of the rounds' ratios: what moves the machine's pace moves both sides of each. Of cells that were not measured equally
    /// often it is the medians' ratio.
    public func ratio(_ metric: Metric, _ cell: Cell, to other: Cell) -> Double? {
        let (ours, theirs) = (values(metric, of: cell), values(metric, of: other))
        // Of two that are never reached there is no ratio.
        guard !theirs.contains(0), theirs.allSatisfy(\.isFinite) else { return nil }
        if ours.count != theirs.count {
            return median(metric, of: cell).flatMap { ours in median(metric, of: other).map { ours / $0 } }
        }
        return Statistics.median(zip(ours, theirs).map { $0 / $1 })
    }
}
