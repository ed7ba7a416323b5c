/// What a value writes by name: fields of a structure, or a dictionary's entries.
struct WireKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: WireEncoder
    let id: UInt32
    var codingPath: [any CodingKey] { [] }

    private func node(_ key: Key) throws -> Int32 { try encoder.field(key.stringValue, id) }

    func encodeNil(forKey key: Key) throws { try encoder.writeNil(node(key)) }
    func encode(_ value: Bool, forKey key: Key) throws {
        try encoder.scalar(node(key), .bool) { $0.bool(value) }
    }
    func encode(_ value: String, forKey key: Key) throws {
        try encoder.scalar(node(key), .string) { writer throws(RelayError) in try writer.string(value) }
    }
    func encode(_ value: Double, forKey key: Key) throws {
        try encoder.scalar(node(key), .double) { $0.double(value) }
    }
    func encode(_ value: Float, forKey key: Key) throws {
        try encoder.scalar(node(key), .double) { $0.double(Double(value)) }
    }
    func encode(_ value: Int, forKey key: Key) throws {
        try encoder.scalar(node(key), .int64) { $0.int64(Int64(value)) }
    }
    func encode(_ value: Int8, forKey key: Key) throws {
        try encoder.scalar(node(key), .int16) { $0.int16(Int16(value)) }
    }
    func encode(_ value: Int16, forKey key: Key) throws {
        try encoder.scalar(node(key), .int16) { $0.int16(value) }
    }
    func encode(_ value: Int32, forKey key: Key) throws {
        try encoder.scalar(node(key), .int32) { $0.int32(value) }
    }
    func encode(_ value: Int64, forKey key: Key) throws {
        try encoder.scalar(node(key), .int64) { $0.int64(value) }
    }
    func encode(_ value: UInt, forKey key: Key) throws {
        try encoder.scalar(node(key), .uint64) { $0.uint64(UInt64(value)) }
    }
    func encode(_ value: UInt8, forKey key: Key) throws {
        try encoder.scalar(node(key), .byte) { $0.byte(value) }
    }
    func encode(_ value: UInt16, forKey key: Key) throws {
        try encoder.scalar(node(key), .uint16) { $0.uint16(value) }
    }
    func encode(_ value: UInt32, forKey key: Key) throws {
        try encoder.scalar(node(key), .uint32) { $0.uint32(value) }
    }
    func encode(_ value: UInt64, forKey key: Key) throws {
        try encoder.scalar(node(key), .uint64) { $0.uint64(value) }
    }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.value(value, node(key)) }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
        KeyedEncodingContainer(WireKeyedEncoding<N>(encoder: encoder, id: encoder.refuseNested()))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        WireUnkeyedEncoding(encoder: encoder, id: encoder.refuseNested())
    }
    func superEncoder() -> any Encoder {
        _ = encoder.refuseSuper()
        return encoder
    }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}
