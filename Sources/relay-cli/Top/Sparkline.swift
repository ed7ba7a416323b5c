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
