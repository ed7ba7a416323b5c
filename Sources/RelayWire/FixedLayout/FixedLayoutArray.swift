/// `FixedArray`, whatever its length and its numbers: how schemas and layouts know it.
protocol FixedLayoutArray: BitwiseCopyable, Decodable {
    static var zeros: Self { get }
    static var length: Int { get }
    static var element: Any.Type { get }
}

extension FixedLayoutArray {
    /// Throws what `refusal` makes of the reason why it cannot be a field of anything.
    static func number(_ refusal: (String) -> SchemaRefusal) throws(SchemaRefusal) -> LayoutNumber {
        if length < 1 { throw refusal("\(Self.self) has no elements") }
        guard let number = LayoutNumber(element) else {
            throw refusal("\(element) is no number that a fixed layout can have")
        }
        if length > FixedLayout.largest / number.size { throw refusal(FixedLayout.tooLarge("\(Self.self)")) }
        return number
    }
}

extension FixedArray: FixedLayoutArray {
    static var zeros: Self { Self(repeating: zero) }
    static var length: Int { count }
    static var element: Any.Type { Element.self }
    /// Of whatever type: all bits 0.
    private static var zero: Element {
        withUnsafeTemporaryAllocation(byteCount: MemoryLayout<Element>.size, alignment: MemoryLayout<Element>.alignment)
        {
            $0.initializeMemory(as: UInt8.self, repeating: 0)
            return $0.load(as: Element.self)
        }
    }
}

// On the wire an array: `[Element]` and this are the same to each other's readers, but for the number of elements.
extension FixedArray: Codable {
    /// Throws for an array of another length, naming the field.
    public init(from decoder: any Decoder) throws {
        if let decoding = decoder as? WireDecoding, let number = LayoutNumber(Element.self) {
            try decoding.checkRun()
            self = try decoding.decoder.array(Self.self, number)
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
        if let encoding = encoder as? WireEncoding, let number = LayoutNumber(Element.self) {
            return try withUnsafeBytes(of: self) { try encoding.array(number, $0) }
        }
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension FixedArray: WireGenericType {
    static func shape(_ probe: SchemaProbe, at path: [String]) throws(SchemaRefusal) -> (WireType, Any) {
        (.array(try number { probe.refusal(path, $0) }.type), zeros)
    }
}
