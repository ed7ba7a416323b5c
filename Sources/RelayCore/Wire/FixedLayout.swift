/// Proves that a fixed-layout event's memory is exactly its coded fields, in order: no padding, no hidden field, no Bool or
/// enum whose bytes could be invalid.
///
/// `BitwiseCopyable` accepts all of these. So a value is decoded from a distinct byte pattern per field, and its memory is
/// compared with the patterns one after the other.
enum FixedLayout {
    static func check<E: DomainEvent>(_ type: E.Type) throws(RelayError) {
        let run = PatternDecoder(root: "\(type)")
        do throws(SchemaRefusal) {
            let value: E
            do { value = try type.init(from: run) } catch let refusal as SchemaRefusal { throw refusal } catch {
                throw SchemaRefusal(
                    type: "\(type)", field: "", reason: "init(from:) refuses arbitrary numbers: \(error)")
            }
            let size = MemoryLayout<E>.size
            if size != run.expected.count || MemoryLayout<E>.stride != size {
                let last = run.offsets.last.map { "; its last coded field is '\($0)'" } ?? ""
                throw SchemaRefusal(
                    type: "\(type)", field: "",
                    reason:
                        "\(MemoryLayout<E>.stride) bytes in memory for \(run.expected.count) bytes of fields: padding or an uncoded field\(last)"
                )
            }
            let isEqual = withUnsafeBytes(of: value) { bytes in bytes.elementsEqual(run.expected) }
            if !isEqual {
                throw SchemaRefusal(
                    type: "\(type)", field: "",
                    reason: "its memory is not its coded fields in order: padding, or a custom coding")
            }
        } catch {
            throw RelayError(.unsupportedType, "\(error)", cause: error)
        }
    }
}

private final class PatternDecoder: Decoder, SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var expected: [UInt8] = []
    var offsets: [String] = []
    let root: String
    init(root: String) { self.root = root }

    func take<T: Decodable>(_ type: T.Type, _ name: String) throws -> T {
        offsets.append(name)
        if type is any (FixedWidthInteger & BitwiseCopyable).Type || type is Double.Type || type is Float.Type {
            let size = MemoryLayout<T>.size
            let pattern = (0..<size).map { UInt8(truncatingIfNeeded: (offsets.count * 16 + $0) & 0x3F | 0x01) }
            expected += pattern
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

private struct PatternKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PatternDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool {
        throw SchemaRefusal(type: decoder.root, field: key.stringValue, reason: "an optional has no fixed layout")
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder.take(type, key.stringValue) }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        try decoder.container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}
