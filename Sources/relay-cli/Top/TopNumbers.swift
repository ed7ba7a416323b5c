import RelayTool

/// Figures as people read them.
enum TopNumbers {
    /// `9,812`; below ten with a decimal.
    static func rate(_ value: Double) -> String {
        if value < 9.95 {
            let tenths = UInt64((max(0, value) * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }
        return value.isNaN ? "-" : count(UInt64(min(value.rounded(), 1e15)))
    }
    static func count(_ value: UInt64) -> String {
        var buffer = ByteBuffer()
        buffer.append(grouped: value)
        return buffer.text
    }
    /// `85 µs`, `1.2 ms`, `3.4 s`, `12 min`
    static func time(_ microseconds: UInt64, isUTF8: Bool) -> String {
        func tenths(_ unit: UInt64) -> String {
            let value = microseconds / (unit / 10)
            return value < 1_000 ? "\(value / 10).\(value % 10)" : "\(value / 10)"
        }
        return switch microseconds {
        case ..<1_000: "\(microseconds) " + (isUTF8 ? "µs" : "us")
        case ..<1_000_000: tenths(1_000) + " ms"
        case ..<600_000_000: tenths(1_000_000) + " s"
        default: "\(count(microseconds / 60_000_000)) min"
        }
    }
}

/// Rates as one character each, the highest as the fullest.
enum Sparkline {
    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let marks: [Character] = [".", ":", "-", "=", "+", "*", "%", "#"]

    /// The last `width` of them, at the right; blanks where there are none, and for zero.
    static func text(_ values: [Double], width: Int, isUTF8: Bool) -> String {
        guard width > 0 else { return "" }
        let shown = values.suffix(width)
        let highest = shown.max() ?? 0
        let levels = isUTF8 ? blocks : marks
        let line = shown.map { value -> Character in
            guard value > 0, highest > 0, value.isFinite else { return " " }
            let level = Int((value / highest * Double(levels.count)).rounded()) - 1
            return levels[min(max(level, 0), levels.count - 1)]
        }
        return String(repeating: " ", count: width - line.count) + String(line)
    }
}
