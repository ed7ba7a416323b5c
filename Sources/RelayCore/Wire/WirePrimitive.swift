/// The types that map to a basic D-Bus type, with samples that many validating types accept.
protocol WirePrimitive {
    static var wireType: WireType { get }
    static func sample(_ round: Int) -> Self
}

extension Bool: WirePrimitive {
    static var wireType: WireType { .bool }
    static func sample(_ round: Int) -> Bool { round % 2 == 1 }
}
extension String: WirePrimitive {
    static var wireType: WireType { .string }
    static func sample(_ round: Int) -> String { Samples.strings[round % Samples.strings.count] }
}
extension Double: WirePrimitive {
    static var wireType: WireType { .double }
    static func sample(_ round: Int) -> Double { Double(Samples.integers[round % Samples.integers.count]) }
}
extension Float: WirePrimitive {
    static var wireType: WireType { .double }
    static func sample(_ round: Int) -> Float { Float(Samples.integers[round % Samples.integers.count]) }
}
extension WirePrimitive where Self: FixedWidthInteger {
    static func sample(_ round: Int) -> Self { Samples.integer(round) }
}
extension UInt8: WirePrimitive { static var wireType: WireType { .byte } }
extension Int8: WirePrimitive { static var wireType: WireType { .int16 } }
extension Int16: WirePrimitive { static var wireType: WireType { .int16 } }
extension UInt16: WirePrimitive { static var wireType: WireType { .uint16 } }
extension Int32: WirePrimitive { static var wireType: WireType { .int32 } }
extension UInt32: WirePrimitive { static var wireType: WireType { .uint32 } }
extension Int64: WirePrimitive { static var wireType: WireType { .int64 } }
extension UInt64: WirePrimitive { static var wireType: WireType { .uint64 } }
extension Int: WirePrimitive { static var wireType: WireType { .int64 } }
extension UInt: WirePrimitive { static var wireType: WireType { .uint64 } }
