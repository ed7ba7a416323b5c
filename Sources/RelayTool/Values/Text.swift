import RelayCore

/// Text being composed, as UTF-8: no locks, no formatting machinery, one allocation that is used again.
package struct ByteBuffer {
    @usableFromInline package internal(set) var bytes: [UInt8] = []

    @inlinable package init() {}

    @inlinable package var count: Int { bytes.count }
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
    /// Takes back what was appended since it had this count.
    package mutating func truncate(to count: Int) { bytes.removeLast(max(0, bytes.count - count)) }
    package mutating func removeFirst(_ count: Int) { bytes.removeFirst(count) }
    @inlinable package mutating func append(byte: UInt8) { bytes.append(byte) }
    package mutating func append(_ scalar: Unicode.Scalar) { bytes.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
    @inlinable package mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }
    @inlinable package mutating func append(_ other: ArraySlice<UInt8>) { bytes.append(contentsOf: other) }
    @inlinable package mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
    @inlinable package mutating func append(_ text: StaticString) {
        // A literal's bytes live as long as the program.
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Decimal, with zeros in front up to `width` digits.
    package mutating func append(decimal value: UInt64, width: Int = 1) {
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
    package mutating func append(grouped value: UInt64) {
        if value < 1_000 { return append(decimal: value) }
        append(grouped: value / 1_000)
        append(byte: UInt8(ascii: ","))
        append(decimal: value % 1_000, width: 3)
    }
    package mutating func append(decimal value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        append(decimal: value.magnitude)
    }
    /// `\uXXXX`, in two parts above U+FFFF.
    package mutating func append(escaped scalar: Unicode.Scalar) {
        for part in scalar.escape { append(part) }
    }
}

/// What came from the bus or the command line, made fit for a terminal and for JSON: nothing in it can move a cursor,
/// set a title, end a line or turn the direction of the text.
package enum SafeText {
    /// A JSON string, quotes included. All that is not plainly visible is escaped, which JSON allows.
    package static func append(quoted text: String, to output: inout ByteBuffer) {
        output.append(byte: UInt8(ascii: "\""))
        if isPlain(text) {
            output.append(text)
        } else {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": output.append("\\\"")
                case "\\": output.append("\\\\")
                case "\n": output.append("\\n")
                case "\r": output.append("\\r")
                case "\t": output.append("\\t")
                case _ where scalar.isPlainlyVisible: output.append(scalar)
                default: output.append(escaped: scalar)
                }
            }
        }
        output.append(byte: UInt8(ascii: "\""))
    }

    /// A name, without quotes.
    package static func append(_ text: String, to output: inout ByteBuffer) {
        if isPlain(text) { return output.append(text) }
        output.append(text.unicodeScalars.plainlyVisible)
    }

    /// Printable ASCII that means itself in JSON: nearly all that comes.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
