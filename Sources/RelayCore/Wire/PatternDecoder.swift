/// Answers every read of a number with bytes that no other field has, and notes them.
final class PatternDecoder: Decoder, SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var expected: [UInt8] = []
    var offsets: [String] = []
    /// Every field's name, and of numbers their kind and size: what two programs must agree about.
    var layout = ""
    let root: String
    init(root: String) { self.root = root }

    func take<T: Decodable>(_ type: T.Type, _ name: String) throws -> T {
        offsets.append(name)
        layout += name + ";"
        if type is any (FixedWidthInteger & BitwiseCopyable).Type || type is Double.Type || type is Float.Type {
            let size = MemoryLayout<T>.size
            let pattern = (0..<size).map { UInt8(truncatingIfNeeded: (offsets.count * 16 + $0) & 0x3F | 0x01) }
            expected += pattern
            let isSigned = (type as? any FixedWidthInteger.Type)?.isSigned
            layout += "\(isSigned.map { $0 ? "i" : "u" } ?? "f")\(size);"
            return pattern.withUnsafeBytes { $0.loadUnaligned(as: T.self) }
        }
        if type == Bool.self {
            throw SchemaRefusal(type: root, field: name, reason: "a Bool has only two valid bytes; use UInt8")
        }
        if type is any RawRepresentable.Type && type is any CaseIterable.Type {
            throw SchemaRefusal(
                type: root, field: name, reason: "\(type) is an enum: not every byte is valid; use its raw value")
        }
        return try type.init(from: self)
    }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(PatternKeyed<Key>(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw SchemaRefusal(type: root, field: offsets.last ?? "", reason: "a sequence has no fixed layout")
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try take(type, offsets.last ?? "") }
}
