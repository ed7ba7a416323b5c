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
