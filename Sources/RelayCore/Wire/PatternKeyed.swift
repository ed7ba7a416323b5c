/// The named fields of a fixed-layout type.
struct PatternKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
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
