import Glibc

/// Numbers with decimals as people read them.
package enum ShortNumber {
    private static let digits = 7

    /// Whole numbers, and those that are a `Float`, as they are; of others about seven digits: `0.3`, `1234.568`,
    /// `123456789.3`, `1.234568e-07`. The number is finite.
    package static func text(_ value: Double) -> String {
        let size = value.magnitude
        if value == value.rounded() { return value.description }
        let single = Float(value)
        if Double(single) == value { return single.description }
        guard size >= 1e-4, size < 1e15 else { return formatted("%.6e", value) }
        var (whole, places) = (size, digits)
        while whole >= 1, places > 1 { (whole, places) = (whole / 10, places - 1) }
        // Zeros behind the point are no digits of the number.
        while whole < 0.1, whole > 0 { (whole, places) = (whole * 10, places + 1) }
        let text = formatted("%.\(places)f", value)
        let trimmed = String(text.reversed().drop { $0 == "0" }.reversed())
        return trimmed.hasSuffix(".") ? trimmed + "0" : trimmed
    }

    private static func formatted(_ format: String, _ value: Double) -> String {
        withVaList([value]) { arguments in
            var buffer = [CChar](repeating: 0, count: 64)  // Below 1e15, and of few decimals: about 25 characters.
            let count = vsnprintf(&buffer, buffer.count, format, arguments)
            return String(decoding: buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
