/// What a type reads by name: fields of a structure, or a dictionary's entries.
struct WireKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Not counted: each field asks for it. See `LentContainers`.
    let decoder: Unmanaged<WireDecoder>
    let id: UInt64
    /// By the bits of a key that has one byte at the most: the field, as an index of the plan. Valid as long as the id
    /// is a value's.
    let indices: UnsafeMutablePointer<Int16>
    var codingPath: [any CodingKey] { [] }

    /// The node of a field, which the reader is then at. Those of a synthesised `init(from:)` come in their turn.
    @inline(__always) private func node(_ key: Key, _ decoder: WireDecoder) throws -> Int32 {
        if isNext(key, decoder) {
            decoder.top.next += 1
            return decoder.plan.fields[Int(decoder.top.next) - 1].node
        }
        return try other(key, decoder)
    }
    @inline(__always) private func isNext(_ key: Key, _ decoder: WireDecoder) -> Bool {
        guard decoder.top.id == id, let place = KeyPlace.of(key) else { return false }
        let index = indices[place]
        return index == decoder.top.next && index >= 0
    }
    @inline(never) private func other(_ key: Key, _ decoder: WireDecoder) throws -> Int32 {
        let node = try decoder.field(key.stringValue, id)
        learn(key, decoder, decoder.top.next - 1)
        return node
    }
    private func learn(_ key: Key, _ decoder: WireDecoder, _ index: Int32) {
        guard let place = KeyPlace.of(key), decoder.isField(index, key.stringValue) else { return }
        indices[place] = Int16(exactly: index) ?? WireContainers.unknown
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

    @inline(__always) private func passNil(_ key: Key) throws -> Bool {
        try decoder._withUnsafeGuaranteedRef { decoder in
            isNext(key, decoder) ? try decoder.passNextNil() : try passOther(key, decoder)
        }
    }
    @inline(never) private func passOther(_ key: Key, _ decoder: WireDecoder) throws -> Bool {
        let isNil = try decoder.passNil(key.stringValue, id)
        learn(key, decoder, isNil ? decoder.top.next - 1 : decoder.top.next)
        return isNil
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
        throw decoder._withUnsafeGuaranteedRef { $0.nested(id) }
    }
    func superDecoder() throws -> any Decoder { throw decoder._withUnsafeGuaranteedRef { $0.inherited(id) } }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        throw decoder._withUnsafeGuaranteedRef { $0.inherited(id) }
    }
}
