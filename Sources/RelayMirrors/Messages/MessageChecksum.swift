/// Finds damage, by any single change for certain: eight bytes at a time, as most of a page's cost would be this. See
/// "Messages" in MIRRORS.md.
package struct MessageChecksum {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// Adds bytes; those behind the last eight as a number whose upper bytes are 0.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        let whole = bytes.count & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        if whole == bytes.count { return }
        combine(bytes[whole...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
    private mutating func combine(_ number: UInt64) {
        value = (value ^ number) &* 0x0000_0100_0000_01B3
        // A product's upper bits depend on all, its lower ones on few.
        value ^= value >> 32
    }
}
