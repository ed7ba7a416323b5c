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

/// What a type reads by name: fields of a structure, or a dictionary's entries.
struct WireKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: WireDecoder
    let id: UInt32
    var codingPath: [any CodingKey] { [] }

    private func node(_ key: Key) throws -> Int32 { try decoder.field(key.stringValue, id) }

    var allKeys: [Key] { decoder.keys(id) }
    func contains(_ key: Key) -> Bool { decoder.contains(key.stringValue, id) }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNil(key.stringValue, id) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try decoder.scalar(node(key), .bool) { reader throws(WireFault) in try reader.bool() }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try decoder.scalar(node(key), .string) { reader throws(WireFault) in try reader.string() }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try decoder.scalar(node(key), .double) { reader throws(WireFault) in try reader.double() }
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        Float(try decoder.scalar(node(key), .double) { reader throws(WireFault) in try reader.double() })
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        Int(try decoder.scalar(node(key), .int64) { reader throws(WireFault) in try reader.int64() })
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try decoder.int8(node(key))
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try decoder.scalar(node(key), .int16) { reader throws(WireFault) in try reader.int16() }
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try decoder.scalar(node(key), .int32) { reader throws(WireFault) in try reader.int32() }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try decoder.scalar(node(key), .int64) { reader throws(WireFault) in try reader.int64() }
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        UInt(try decoder.scalar(node(key), .uint64) { reader throws(WireFault) in try reader.uint64() })
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try decoder.scalar(node(key), .byte) { reader throws(WireFault) in try reader.byte() }
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try decoder.scalar(node(key), .uint16) { reader throws(WireFault) in try reader.uint16() }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try decoder.scalar(node(key), .uint32) { reader throws(WireFault) in try reader.uint32() }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try decoder.scalar(node(key), .uint64) { reader throws(WireFault) in try reader.uint64() }
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder.value(type, node(key)) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try decoder.passNil(key.stringValue, id) ? nil : try decode(type, forKey: key)
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        throw decoder.nested()
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw decoder.nested() }
    func superDecoder() throws -> any Decoder { throw decoder.inherited() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.inherited() }
}
