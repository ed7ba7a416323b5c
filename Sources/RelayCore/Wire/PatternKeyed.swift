/// The named fields of a fixed-layout type.
struct PatternKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PatternDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool {
        throw decoder.refusal("an optional has no fixed layout", field: key.stringValue)
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let (value, layout) = try decoder.take(type, field: key.stringValue)
        try decoder.add(key.stringValue, layout)
        return value
    }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        throw decoder.refusal("a container nested by hand; declare a structure instead", field: key.stringValue)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder.refusal("a sequence has no fixed layout; use FixedArray", field: key.stringValue)
    }
    func superDecoder() throws -> any Decoder { throw decoder.refusal("class inheritance has no D-Bus form") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}
