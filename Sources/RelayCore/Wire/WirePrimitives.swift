/// The types that map to a basic D-Bus type, with samples that many validating types accept.
protocol WirePrimitive {
    static var wireType: WireType { get }
    static func sample(_ round: Int) -> Self
}

enum Samples {
    static let strings = [
        "", "00000000-0000-0000-0000-000000000000", "0", "a", "A", "1970-01-01T00:00:00Z", "/", "a@b.org", "127.0.0.1",
        "EUR",
    ]
    static let integers = [0, 1, 5, 10, 20, 100]
    static let rounds = strings.count
    static func integer<I: FixedWidthInteger>(_ round: Int) -> I { I(clamping: integers[round % integers.count]) }
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

/// The generic types whose shape follows from their arguments, without running their `init(from:)`.
protocol WireSpecial {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any)
}
extension Array: WireSpecial where Element: Decodable {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.array(try probe.shape(of: Element.self, at: path + ["[]"]).0), [Element]())
    }
}
extension Set: WireSpecial where Element: Decodable {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.array(try probe.shape(of: Element.self, at: path + ["[]"]).0), Set<Element>())
    }
}
extension Optional: WireSpecial where Wrapped: Decodable {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.optional(try probe.shape(of: Wrapped.self, at: path + ["?"]).0), Wrapped?.none as Any)
    }
}
extension Dictionary: WireSpecial where Key: Decodable, Value: Decodable {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        let key = try probe.shape(of: Key.self, at: path + ["{key}"]).0
        if !key.isBasic {
            throw probe.refusal(path + ["{key}"], "\(Key.self) is no basic type; D-Bus dictionaries need one as key")
        }
        return (.dictionary(key, try probe.shape(of: Value.self, at: path + ["{value}"]).0), [Key: Value]())
    }
}
