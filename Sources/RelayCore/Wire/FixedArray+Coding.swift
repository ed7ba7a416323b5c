// On the wire an array: `[Element]` and this are the same to each other's readers, but for the number of elements.
extension FixedArray: Codable {
    /// Throws for an array of another length, naming the field.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? WireDecoder, let number = LayoutNumber(Element.self) {
            self = try decoder.array(Self.self, number)
            return
        }
        if let decoder = decoder as? PatternDecoder {
            self = try decoder.decode(Self.self)
            return
        }
        var container = try decoder.unkeyedContainer()
        self = try Self { _ in try container.decode(Element.self) }
        if !container.isAtEnd {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "more elements than the \(count) of a \(Self.self)")
        }
    }
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? WireEncoder, let number = LayoutNumber(Element.self) {
            return try withUnsafeBytes(of: self) { try encoder.array(number, $0) }
        }
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension FixedArray: WireSpecial {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.array(try number { probe.refusal(path, $0) }.type), zeros)
    }
}
