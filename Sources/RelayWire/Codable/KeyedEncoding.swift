/// What a value writes by name: fields of a structure, or a dictionary's entries.
struct WireKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    /// Not counted: each field asks for it. See `LentContainers`.
    let encoder: Unmanaged<WireEncoder>
    let id: UInt64
    /// As in `WireKeyedDecoding`.
    let indices: UnsafeMutablePointer<Int16>?
    /// Counts the encoder, where nothing is lent.
    private let keeper: WireEncoder?
    var codingPath: [any CodingKey] { [] }

    init(encoder: Unmanaged<WireEncoder>, id: UInt64, indices: UnsafeMutablePointer<Int16>) {
        (self.encoder, self.id, self.indices, keeper) = (encoder, id, indices, nil)
    }
    init(refused encoder: WireEncoder) {
        (self.encoder, id) = (.passUnretained(encoder), WireEncoder.refused)
        (indices, keeper) = (nil, encoder)
    }

    /// The node of a field, after what comes before it. Those of a synthesised `encode(to:)` come in their turn.
    @inline(__always) private func node(_ key: Key, _ encoder: WireEncoder) throws -> Int32 {
        if encoder.top.id == id, let place = KeyPlace.of(key), let indices {
            let index = Int32(indices[place])
            if index >= encoder.top.next {
                if index != encoder.top.next { try encoder.leaveOut(upTo: index) }
                encoder.top.next = index + 1
                return encoder.plan.fields[Int(index)].node
            }
        }
        return try other(key, encoder)
    }
    @inline(never) private func other(_ key: Key, _ encoder: WireEncoder) throws -> Int32 {
        let node = try encoder.field(key.stringValue, id)
        if let place = KeyPlace.of(key), let indices, encoder.top.state == .structure {
            indices[place] = Int16(exactly: encoder.top.next - 1) ?? WireContainers.unknown
        }
        return node
    }
    @inline(__always) private func scalar(
        _ key: Key, _ kind: WirePlan.Kind, _ write: (inout WireWriter) throws(RelayError) -> Void
    ) throws {
        try encoder._withUnsafeGuaranteedRef { try $0.scalar(node(key, $0), kind, write) }
    }

    func encodeNil(forKey key: Key) throws {
        try encoder._withUnsafeGuaranteedRef { try $0.writeNil(node(key, $0)) }
    }
    func encode(_ value: Bool, forKey key: Key) throws { try scalar(key, .bool) { $0.bool(value) } }
    func encode(_ value: String, forKey key: Key) throws {
        try scalar(key, .string) { writer throws(RelayError) in try writer.string(value) }
    }
    func encode(_ value: Double, forKey key: Key) throws { try scalar(key, .double) { $0.double(value) } }
    func encode(_ value: Float, forKey key: Key) throws { try scalar(key, .double) { $0.double(Double(value)) } }
    func encode(_ value: Int, forKey key: Key) throws { try scalar(key, .int64) { $0.int64(Int64(value)) } }
    func encode(_ value: Int8, forKey key: Key) throws { try scalar(key, .int16) { $0.int16(Int16(value)) } }
    func encode(_ value: Int16, forKey key: Key) throws { try scalar(key, .int16) { $0.int16(value) } }
    func encode(_ value: Int32, forKey key: Key) throws { try scalar(key, .int32) { $0.int32(value) } }
    func encode(_ value: Int64, forKey key: Key) throws { try scalar(key, .int64) { $0.int64(value) } }
    func encode(_ value: UInt, forKey key: Key) throws { try scalar(key, .uint64) { $0.uint64(UInt64(value)) } }
    func encode(_ value: UInt8, forKey key: Key) throws { try scalar(key, .byte) { $0.byte(value) } }
    func encode(_ value: UInt16, forKey key: Key) throws { try scalar(key, .uint16) { $0.uint16(value) } }
    func encode(_ value: UInt32, forKey key: Key) throws { try scalar(key, .uint32) { $0.uint32(value) } }
    func encode(_ value: UInt64, forKey key: Key) throws { try scalar(key, .uint64) { $0.uint64(value) } }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoder._withUnsafeGuaranteedRef { try $0.value(value, node(key, $0)) }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
        encoder._withUnsafeGuaranteedRef { $0.payload(type, key.stringValue, id) }
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder._withUnsafeGuaranteedRef { WireUnkeyedEncoding(encoder: $0, id: $0.refuseNested(id)) }
    }
    func superEncoder() -> any Encoder { encoder._withUnsafeGuaranteedRef { $0.refuseSuper(id) } }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// Where a table by keys has a key.
enum KeyPlace {
    /// The bits of a key, if they are few: a plain enum's, whose name is always the same for the same bits.
    @inline(__always) static func of<Key: CodingKey>(_ key: Key) -> Int? {
        if MemoryLayout<Key>.size == 1 { return Int(unsafeBitCast(key, to: UInt8.self)) }
        return MemoryLayout<Key>.size == 0 ? 0 : nil
    }
}
