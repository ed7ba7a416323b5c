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
extension TransferredDescriptor: WirePrimitive {
    static var wireType: WireType { .descriptor }
    // Not of the class's own: its `Self` is this very type.
    static func sample(_ round: Int) -> Self { unsafeDowncast(sample(), to: Self.self) }
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
protocol WireGenericType {
    /// What it is made of; of a dictionary its values.
    static var element: Any.Type { get }
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any)
}
extension Array: WireGenericType where Element: Decodable {
    static var element: Any.Type { Element.self }
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.array(try probe.shape(of: Element.self, at: path + ["[]"]).0), [Element]())
    }
}
extension Set: WireGenericType where Element: Decodable {
    static var element: Any.Type { Element.self }
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.array(try probe.shape(of: Element.self, at: path + ["[]"]).0), Set<Element>())
    }
}
extension Optional: WireGenericType where Wrapped: Decodable {
    static var element: Any.Type { Wrapped.self }
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        let wrapped = try probe.shape(of: Wrapped.self, at: path + ["?"]).0
        if case .optional = wrapped { throw probe.refusal(path, SchemaProbe.nestedOptional) }
        return (.optional(wrapped), Wrapped?.none as Any)
    }
}
extension Dictionary: WireGenericType where Key: Decodable, Value: Decodable {
    static var element: Any.Type { Value.self }
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        let key = try probe.shape(of: Key.self, at: path + ["{key}"]).0
        if !key.isBasic {
            throw probe.refusal(path + ["{key}"], "\(Key.self) is no basic type; D-Bus dictionaries need one as key")
        }
        return (.dictionary(key, try probe.shape(of: Value.self, at: path + ["{value}"]).0), [Key: Value]())
    }
}
