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
        let wrapped = try probe.shape(of: Wrapped.self, at: path + ["?"]).0
        if case .optional = wrapped { throw probe.refusal(path, SchemaProbe.nestedOptional) }
        return (.optional(wrapped), Wrapped?.none as Any)
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
