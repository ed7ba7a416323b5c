import RelayCore
import RelayTool

/// How long events took, as bars: in steps of 1, 2 and 5.
struct LatencyBars {
    let text: TopText

    /// Where the steps begin, in microseconds; the last has no end.
    static let bounds: [UInt64] = {
        var bounds: [UInt64] = [0]
        var unit: UInt64 = 1
        while unit <= 10_000_000 {
            for factor: UInt64 in [1, 2, 5] where factor * unit <= 10_000_000 { bounds.append(factor * unit) }
            unit *= 10
        }
        return bounds
    }()

    /// How many times fell into each step, from the first that has any to the last.
    static func counts(_ histogram: LatencyHistogram) -> [(from: UInt64, count: UInt64)] {
        var counts = bounds.map { (from: $0, count: UInt64(0)) }
        for (value, count) in histogram.steps {
            let index = bounds.lastIndex { $0 <= value } ?? 0
            counts[index].count &+= count
        }
        guard let first = counts.firstIndex(where: { $0.count > 0 }),
            let last = counts.lastIndex(where: { $0.count > 0 })
        else { return [] }
        return Array(counts[first...last])
    }

    /// A step's beginning, which has no decimals: `10 ms`.
    private func label(_ microseconds: UInt64) -> String {
        text.time(microseconds).split(separator: ".0 ").joined(separator: " ")
    }
    /// A line: `latency of LoadSampled: 20 µs ▂█▅▁ 500 µs`; nil: there is nothing to show, or no room.
    func strip(_ row: TopStreamRow, width: Int?) -> String? {
        let counts = Self.counts(row.figures.latency)
        guard let first = counts.first, let last = counts.last else { return nil }
        let bars = Sparkline.text(counts.map { Double($0.count) }, width: counts.count, isUTF8: text.isUTF8)
        let end = Self.bounds.first { $0 > last.from }.map(label) ?? "more"
        let shown = "\(label(first.from)) \(bars) \(end)"
        let name = text.last(text.safe(row.name))
        return ["latency of \(name): \(shown)", "latency: \(shown)", shown].first { $0.count <= width ?? .max }
    }
    /// A line for each step.
    func lines(_ histogram: LatencyHistogram, width: Int?) -> [String] {
        let counts = Self.counts(histogram)
        let most = counts.map(\.count).max() ?? 0
        let numbers = counts.map { TopNumbers.count($0.count) }
        let column = numbers.map(\.count).max() ?? 0
        let room = min(40, max(0, (width ?? 80) - 8 - column - 4))
        return zip(counts, numbers).map { step, number in
            var length = most == 0 ? 0 : Int((Double(step.count) / Double(most) * Double(room)).rounded())
            // What there is shows.
            if step.count > 0 { length = max(1, length) }
            let bar = String(repeating: text.isUTF8 ? "█" : "#", count: min(length, room))
            let line = text.right(label(step.from), to: 8) + "  " + text.right(number, to: column) + "  " + bar
            return text.trimmed(line)
        }
    }
}
