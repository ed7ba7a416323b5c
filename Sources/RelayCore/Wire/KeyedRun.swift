/// The named fields that a type reads.
struct KeyedRun<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: ProbeRun
    private final class Asked { var keys: Set<String> = [] }
    private let asked = Asked()
    init(run: ProbeRun) { self.run = run }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        run.readsAllKeys = true
        return []
    }
    /// Who asks can do without: the field is optional.
    func contains(_ key: Key) -> Bool {
        asked.keys.insert(key.stringValue)
        return true
    }
    /// Also what `decodeIfPresent` begins with: the field is optional.
    func decodeNil(forKey key: Key) throws -> Bool {
        asked.keys.insert(key.stringValue)
        return false
    }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        throw run.probe.hugeRefusal(type, run.path + [key.stringValue])
    }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        throw run.probe.hugeRefusal(type, run.path + [key.stringValue])
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try run.read(type, key.stringValue, isOptional: asked.keys.contains(key.stringValue))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        throw run.probe.refusal(run.path + [key.stringValue], "a container nested by hand; declare a structure instead")
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw run.probe.refusal(run.path + [key.stringValue], "a container nested by hand; declare an array instead")
    }
    func superDecoder() throws -> any Decoder {
        throw run.probe.refusal(run.path, "class inheritance has no D-Bus form")
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}
