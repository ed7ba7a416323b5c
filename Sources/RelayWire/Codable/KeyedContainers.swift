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
        KeyedEncodingContainer(
            WireKeyedEncoding<N>(encoder: encoder, id: encoder.startPayload(key.stringValue, id)))
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
    /// Not counted: each field asks for it. See `WireDecoder`.
    let decoder: Unmanaged<WireDecoder>
    let id: UInt64
    /// By the bits of a key that has one byte at the most: the field, as an index of the plan. Valid as long as the id
    /// is a value's.
    let indices: UnsafeMutablePointer<Int16>
    var codingPath: [any CodingKey] { [] }

    /// The node of a field, which the reader is then at. Those of a synthesised `init(from:)` come in their turn.
    @inline(__always) private func node(_ key: Key, _ decoder: WireDecoder) throws -> Int32 {
        if decoder.top.id == id, let place = Self.place(key) {
            let index = indices[place]
            if index == decoder.top.next, index >= 0 {
                decoder.top.next += 1
                return decoder.plan.fields[Int(index)].node
            }
        }
        return try other(key, decoder)
    }
    /// The bits of a key, if they are few: a plain enum's, whose name is always the same for the same bits.
    @inline(__always) private static func place(_ key: Key) -> Int? {
        if MemoryLayout<Key>.size == 1 { return Int(unsafeBitCast(key, to: UInt8.self)) }
        return MemoryLayout<Key>.size == 0 ? 0 : nil
    }
    @inline(never) private func other(_ key: Key, _ decoder: WireDecoder) throws -> Int32 {
        let node = try decoder.field(key.stringValue, id)
        if let place = Self.place(key), decoder.top.state == .structure {
            indices[place] = Int16(truncatingIfNeeded: decoder.top.next - 1)
        }
        return node
    }

    var allKeys: [Key] { decoder._withUnsafeGuaranteedRef { $0.keys(id) } }
    func contains(_ key: Key) -> Bool {
        decoder._withUnsafeGuaranteedRef { $0.contains(key.stringValue, id) }
    }
    func decodeNil(forKey key: Key) throws -> Bool {
        try decoder._withUnsafeGuaranteedRef { try $0.isNil(key.stringValue, id) }
    }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try decoder._withUnsafeGuaranteedRef { try $0.bool(node(key, $0)) }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try decoder._withUnsafeGuaranteedRef { try $0.string(node(key, $0)) }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try decoder._withUnsafeGuaranteedRef { try $0.double(node(key, $0)) }
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        Float(try decoder._withUnsafeGuaranteedRef { try $0.double(node(key, $0)) })
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        Int(try decoder._withUnsafeGuaranteedRef { try $0.int64(node(key, $0)) })
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try decoder._withUnsafeGuaranteedRef { try $0.int8(node(key, $0)) }
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try decoder._withUnsafeGuaranteedRef { try $0.int16(node(key, $0)) }
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try decoder._withUnsafeGuaranteedRef { try $0.int32(node(key, $0)) }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try decoder._withUnsafeGuaranteedRef { try $0.int64(node(key, $0)) }
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        UInt(try decoder._withUnsafeGuaranteedRef { try $0.uint64(node(key, $0)) })
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try decoder._withUnsafeGuaranteedRef { try $0.byte(node(key, $0)) }
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try decoder._withUnsafeGuaranteedRef { try $0.uint16(node(key, $0)) }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try decoder._withUnsafeGuaranteedRef { try $0.uint32(node(key, $0)) }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try decoder._withUnsafeGuaranteedRef { try $0.uint64(node(key, $0)) }
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder._withUnsafeGuaranteedRef { try $0.value(type, node(key, $0)) }
    }

    private func passNil(_ key: Key) throws -> Bool {
        try decoder._withUnsafeGuaranteedRef { try $0.passNil(key.stringValue, id) }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try passNil(key) ? nil : try decode(type, forKey: key)
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        try decoder._withUnsafeGuaranteedRef { try $0.payload(type, key.stringValue, id) }
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder._withUnsafeGuaranteedRef { $0.nested() }
    }
    func superDecoder() throws -> any Decoder { throw decoder._withUnsafeGuaranteedRef { $0.inherited() } }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        throw decoder._withUnsafeGuaranteedRef { $0.inherited() }
    }
}
