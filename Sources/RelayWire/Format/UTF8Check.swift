/// Whether bytes may be a D-Bus string: UTF-8 without NUL.
enum UTF8Check {
    enum Verdict { case valid, embeddedNUL, invalid }

    static func check(_ bytes: UnsafeRawBufferPointer) -> Verdict { isPlain(bytes) ? .valid : checkEach(bytes) }

    /// ASCII without NUL. Eight bytes at a time, the last ones once more with those before them.
    @inline(__always) private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        if count < 8 {
            // In bounds, as the index is below the count.
            for index in 0..<count where Int8(bitPattern: bytes[index]) <= 0 { return false }
            return true
        }
        var offset = 0
        while true {
            // In bounds: `offset` is 8 below the end at the most.
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if hasOther(word) { return false }
            if offset == count - 8 { return true }
            offset = min(offset + 8, count - 8)
        }
    }
    /// Than ASCII: a byte of 0, or one over 127.
    @inline(__always) private static func hasOther(_ word: UInt64) -> Bool {
        (word &- 0x0101_0101_0101_0101 | word) & 0x8080_8080_8080_8080 != 0
    }
    private static func checkEach(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        var index = 0
        let count = bytes.count
        while index < count {
            // Plain parts of a longer text; in bounds by the condition.
            while count - index >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if hasOther(word) { break }
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
