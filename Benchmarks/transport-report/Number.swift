import Foundation

/// Numbers for people.
public enum Number {
    /// Three digits that count: 0.0123, 1.23, 12.3, 123, 12,300.
    public static func short(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        let size = abs(value)
        if size == 0 { return "0" }
        if size >= 999.5 { return grouped(value) }
        let digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3
        let text = String(format: "%.\(digits)f", value)
        guard text.contains(".") else { return text }
        // 5.00 says no more than 5.
        let bare = text.reversed().drop { $0 == "0" }.reversed()
        return String(bare.last == "." ? Array(bare.dropLast()) : Array(bare))
    }
    private static func grouped(_ value: Double) -> String {
        let digits = Array(String(format: "%.0f", abs(value)))
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + text
    }
    /// Percent. A little is not nothing.
    public static func share(_ value: Double) -> String {
        value == 0 ? "0" : value < 0.001 ? "< 0.001 %" : "\(short(value)) %"
    }
    /// Nanoseconds in the unit that fits.
    public static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case .infinity: "never"
        case ..<1_000: "\(short(nanoseconds)) ns"
        case ..<1_000_000: "\(short(nanoseconds / 1_000)) µs"
        default: "\(short(nanoseconds / 1_000_000)) ms"
        }
    }
    /// Events a second.
    public static func rate(_ value: Double) -> String {
        value >= 1_000_000 ? "\(short(value / 1e6)) M/s" : "\(short(value / 1e3)) k/s"
    }
}
