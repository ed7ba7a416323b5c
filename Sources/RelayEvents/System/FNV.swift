/// The hash FNV-1a of 64 bits: a checksum against damage, the same in every process. It is none against an attacker.
///
/// Inputs of one length that differ in one byte always have different hashes.
package struct FNV {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}
    package mutating func combine(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) { for byte in bytes { combine(byte: byte) } }
    package mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }
    package mutating func combine(number: UInt64) { withUnsafeBytes(of: number.littleEndian) { combine($0) } }
}
