/// A payload that tells where it is from, and whether it is whole.
///
/// Words: writer, the writer's own number, filling, and a checksum of all these.
package enum StressPayload {
    package static let smallest = 32

    /// Fills a buffer of whole words.
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer, writer: UInt64, number: UInt64) {
        let words = buffer.count / 8
        buffer.storeBytes(of: writer, as: UInt64.self)
        buffer.storeBytes(of: number, toByteOffset: 8, as: UInt64.self)
        var sum = mixed(writer, number)
        for word in 2..<words - 1 {
            let filling = number &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(word)
            buffer.storeBytes(of: filling, toByteOffset: 8 * word, as: UInt64.self)
            sum = mixed(sum, filling)
        }
        buffer.storeBytes(of: sum, toByteOffset: 8 * (words - 1), as: UInt64.self)
    }
    /// Returns writer and number, or nil for one that is torn.
    package static func check(_ buffer: UnsafeRawBufferPointer) -> (writer: UInt64, number: UInt64)? {
        let words = buffer.count / 8
        guard buffer.count % 8 == 0, buffer.count >= smallest else { return nil }
        let writer = buffer.load(as: UInt64.self)
        let number = buffer.load(fromByteOffset: 8, as: UInt64.self)
        var sum = mixed(writer, number)
        for word in 2..<words - 1 { sum = mixed(sum, buffer.load(fromByteOffset: 8 * word, as: UInt64.self)) }
        return buffer.load(fromByteOffset: 8 * (words - 1), as: UInt64.self) == sum ? (writer, number) : nil
    }
    /// A size for the writer's record with that number: most are small, some are not.
    package static func size(_ number: UInt64) -> Int {
        let mix = number &* 0xBF58_476D_1CE4_E5B9 >> 40
        return smallest + 8 * Int(mix % 64 == 0 ? mix % 120 : mix % 8)
    }
    @inline(__always) private static func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let sum = (a ^ b) &* 0x100_0000_01b3
        return sum ^ (sum >> 29)
    }
}
