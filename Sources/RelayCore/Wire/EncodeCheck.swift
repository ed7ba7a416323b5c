/// Encodes the probe's sample, and compares the names with those that were read: `encode(to:)` and `init(from:)` written by
/// hand may disagree, which would otherwise show at the first publish.
final class EncodeCheck: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private(set) var names: [String] = []

    static func verify<T: Encodable>(_ sample: T, against wire: WireType, _ probe: SchemaProbe) throws(SchemaRefusal) {
        guard case .structure(let fields) = wire else { return }
        let check = EncodeCheck()
        do { try sample.encode(to: check) } catch {
            throw probe.refusal([], "encode(to:) failed on a sample: \(error)")
        }
        let required = fields.filter { if case .optional = $0.type { false } else { true } }.map(\.name)
        let optional = Set(fields.map(\.name)).subtracting(required)
        if check.names.filter({ !optional.contains($0) }) != required {
            throw probe.refusal([], "encode(to:) writes \(check.names), init(from:) reads \(fields.map(\.name))")
        }
    }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed<Key>(check: self))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { Ignored() }
    func singleValueContainer() -> any SingleValueEncodingContainer { Ignored() }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let check: EncodeCheck
        var codingPath: [any CodingKey] { [] }
        mutating func encodeNil(forKey key: Key) throws { check.names.append(key.stringValue) }
        mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { check.names.append(key.stringValue) }
        mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N>
        {
            KeyedEncodingContainer(Keyed<N>(check: EncodeCheck()))
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Ignored() }
        mutating func superEncoder() -> any Encoder { EncodeCheck() }
        mutating func superEncoder(forKey key: Key) -> any Encoder { EncodeCheck() }
    }
    private struct Ignored: UnkeyedEncodingContainer, SingleValueEncodingContainer {
        var codingPath: [any CodingKey] { [] }
        var count: Int { 0 }
        mutating func encodeNil() throws {}
        mutating func encode<T: Encodable>(_ value: T) throws {}
        mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) -> KeyedEncodingContainer<N> {
            KeyedEncodingContainer(Keyed<N>(check: EncodeCheck()))
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
        mutating func superEncoder() -> any Encoder { EncodeCheck() }
    }
}
