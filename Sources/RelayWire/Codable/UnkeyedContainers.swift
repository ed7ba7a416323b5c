/// What a value writes without names: an array's elements, a dictionary's keys and values in turn, a structure's
/// fields.
struct WireUnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: WireEncoder
    let id: UInt64
    var codingPath: [any CodingKey] { [] }
    var count: Int { Int(encoder.top.next) }

    private func node() throws -> Int32 { try encoder.element(id) }

    func encodeNil() throws { try encoder.writeNil(node()) }
    func encode(_ value: String) throws {
        try encoder.scalar(node(), .string) { writer throws(RelayError) in try writer.string(value) }
    }
    func encode(_ value: Bool) throws { try encoder.scalar(node(), .bool) { $0.bool(value) } }
    func encode(_ value: Double) throws { try encoder.scalar(node(), .double) { $0.double(value) } }
    func encode(_ value: Float) throws { try encoder.scalar(node(), .double) { $0.double(Double(value)) } }
    func encode(_ value: Int) throws { try encoder.scalar(node(), .int64) { $0.int64(Int64(value)) } }
    func encode(_ value: Int8) throws { try encoder.scalar(node(), .int16) { $0.int16(Int16(value)) } }
    func encode(_ value: Int16) throws { try encoder.scalar(node(), .int16) { $0.int16(value) } }
    func encode(_ value: Int32) throws { try encoder.scalar(node(), .int32) { $0.int32(value) } }
    func encode(_ value: Int64) throws { try encoder.scalar(node(), .int64) { $0.int64(value) } }
    func encode(_ value: UInt) throws { try encoder.scalar(node(), .uint64) { $0.uint64(UInt64(value)) } }
    func encode(_ value: UInt8) throws { try encoder.scalar(node(), .byte) { $0.byte(value) } }
    func encode(_ value: UInt16) throws { try encoder.scalar(node(), .uint16) { $0.uint16(value) } }
    func encode(_ value: UInt32) throws { try encoder.scalar(node(), .uint32) { $0.uint32(value) } }
    func encode(_ value: UInt64) throws { try encoder.scalar(node(), .uint64) { $0.uint64(value) } }
    func encode<T: Encodable>(_ value: T) throws { try encoder.value(value, node()) }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type) -> KeyedEncodingContainer<N> {
        _ = encoder.refuseNested(id)
        return encoder.refused(type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        WireUnkeyedEncoding(encoder: encoder, id: encoder.refuseNested(id))
    }
    func superEncoder() -> any Encoder { encoder.refuseSuper(id) }
}

/// What a type reads without names: an array's elements, a dictionary's keys and values in turn, a structure's fields.
struct WireUnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: WireDecoder
    let id: UInt64
    var codingPath: [any CodingKey] { [] }
    var count: Int? { decoder.count(id) }
    var isAtEnd: Bool { decoder.isAtEnd(id) }
    var currentIndex: Int { decoder.index(id) }

    private func node() throws -> Int32 { try decoder.element(id) }

    func decode(_ type: Bool.Type) throws -> Bool {
        try decoder.bool(node())
    }
    func decode(_ type: String.Type) throws -> String {
        try decoder.string(node())
    }
    func decode(_ type: Double.Type) throws -> Double {
        try decoder.double(node())
    }
    func decode(_ type: Float.Type) throws -> Float {
        Float(try decoder.double(node()))
    }
    func decode(_ type: Int.Type) throws -> Int {
        Int(try decoder.int64(node()))
    }
    func decode(_ type: Int8.Type) throws -> Int8 {
        try decoder.int8(node())
    }
    func decode(_ type: Int16.Type) throws -> Int16 {
        try decoder.int16(node())
    }
    func decode(_ type: Int32.Type) throws -> Int32 {
        try decoder.int32(node())
    }
    func decode(_ type: Int64.Type) throws -> Int64 {
        try decoder.int64(node())
    }
    func decode(_ type: UInt.Type) throws -> UInt {
        UInt(try decoder.uint64(node()))
    }
    func decode(_ type: UInt8.Type) throws -> UInt8 {
        try decoder.byte(node())
    }
    func decode(_ type: UInt16.Type) throws -> UInt16 {
        try decoder.uint16(node())
    }
    func decode(_ type: UInt32.Type) throws -> UInt32 {
        try decoder.uint32(node())
    }
    func decode(_ type: UInt64.Type) throws -> UInt64 {
        try decoder.uint64(node())
    }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.value(type, node()) }
    func decodeNil() throws -> Bool { try decoder.passNilElement(id) }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type) throws -> KeyedDecodingContainer<N> {
        throw decoder.nested(id)
    }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw decoder.nested(id) }
    func superDecoder() throws -> any Decoder { throw decoder.inherited(id) }
}
