/// Whether bytes may be a D-Bus string: UTF-8 without NUL.
enum UTF8Check {
    enum Verdict { case valid, embeddedNUL, invalid }

    static func check(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        var index = 0
        let count = bytes.count
        while index < count {
            // Eight at a time as long as they are ASCII and none is 0; in bounds by the condition.
            while count - index >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let hasZeroOrHigh = (word &- 0x0101_0101_0101_0101 | word) & 0x8080_8080_8080_8080
                if hasZeroOrHigh != 0 { break }
                index += 8
            }
            if index == count { return .valid }
            let first = bytes[index]
            if first == 0 { return .embeddedNUL }
            if first < 0x80 {
                index += 1
                continue
            }
            guard let length = sequenceLength(bytes, at: index) else { return .invalid }
            index += length
        }
        return .valid
    }

    /// The well-formed sequences of Unicode's table 3-7: no overlong form, no surrogate, nothing over U+10FFFF.
    private static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int? {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[index] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return nil
        }
        guard bytes.count - index >= length, second.contains(bytes[index + 1]) else { return nil }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return nil }
        return length
    }
}
