/// Reads words and numbers from one of the kernel's texts, which may be anything.
struct ProcScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    /// The next line, without its end; nil at the end of the text.
    mutating func line() -> ProcScanner? {
        if rest.isEmpty { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst() }
        return ProcScanner(rest[..<end])
    }
    /// What there is up to a blank, the line's end, or `stop`, which is taken, too.
    mutating func word(upTo stop: Unicode.Scalar = " ") -> ArraySlice<UInt8> {
        skipBlanks()
        let word = rest.prefix { !Self.isBlank($0) && $0 != UInt8(ascii: stop) }
        rest = rest[word.endIndex...]
        if rest.first == UInt8(ascii: stop) { rest = rest.dropFirst() }
        return word
    }
    /// Whether it begins with these, which are taken then.
    mutating func take(_ text: StaticString) -> Bool {
        // A literal's bytes live as long as the program.
        let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.starts(with: bytes) else { return false }
        rest = rest.dropFirst(bytes.count)
        return true
    }
    /// A decimal number that ends with its digits; nil where there is none, or one that does not fit.
    mutating func number() -> UInt64? {
        skipBlanks()
        var (value, digits) = (UInt64(0), 0)
        for byte in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeToo) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            if isTooLarge || isTooLargeToo { return nil }
            (value, digits) = (sum, digits + 1)
        }
        rest = rest.dropFirst(digits)
        return digits == 0 ? nil : value
    }
    /// A number with decimals: `0.25`.
    mutating func decimal() -> Double? {
        guard let whole = number(), take(".") else { return nil }
        let before = rest.count
        guard let part = number() else { return nil }
        var scale = 1.0
        for _ in 0..<(before - rest.count) { scale *= 10 }
        return Double(whole) + Double(part) / scale
    }
    private mutating func skipBlanks() { rest = rest.drop { Self.isBlank($0) } }
    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
