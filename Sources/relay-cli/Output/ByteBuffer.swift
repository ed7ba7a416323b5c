import RelayTool

/// Text being composed, as UTF-8: no locks, no formatting machinery, one allocation that is used again.
struct ByteBuffer {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
    /// Takes back what was appended since it had this count.
    mutating func truncate(to count: Int) { bytes.removeLast(max(0, bytes.count - count)) }
    mutating func removeFirst(_ count: Int) { bytes.removeFirst(count) }
    mutating func append(byte: UInt8) { bytes.append(byte) }
    mutating func append(_ scalar: Unicode.Scalar) { bytes.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
    mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }
    mutating func append(_ other: ArraySlice<UInt8>) { bytes.append(contentsOf: other) }
    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
    mutating func append(_ text: StaticString) {
        // A literal's bytes live as long as the program.
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Decimal, with zeros in front up to `width` digits.
    mutating func append(decimal value: UInt64, width: Int = 1) {
        let start = bytes.count
        var rest = value
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        while bytes.count - start < width { bytes.append(UInt8(ascii: "0")) }
        bytes[start...].reverse()
    }
    /// `9,812`
    mutating func append(grouped value: UInt64) {
        if value < 1_000 { return append(decimal: value) }
        append(grouped: value / 1_000)
        append(byte: UInt8(ascii: ","))
        append(decimal: value % 1_000, width: 3)
    }
    mutating func append(decimal value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        append(decimal: value.magnitude)
    }
    /// `\uXXXX`, in two parts above U+FFFF.
    mutating func append(escaped scalar: Unicode.Scalar) {
        for part in scalar.escape { append(part) }
    }
}
