/// The one value that a type reads in its own place.
struct WireSingleDecoding: SingleValueDecodingContainer {
    let decoder: WireDecoder
    let id: UInt32
    var codingPath: [any CodingKey] { [] }

    private func node() throws -> Int32 { try decoder.element(id) }

    func decode(_ type: Bool.Type) throws -> Bool {
        try decoder.scalar(node(), .bool) { reader throws(WireFault) in try reader.bool() }
    }
    func decode(_ type: String.Type) throws -> String {
        try decoder.scalar(node(), .string) { reader throws(WireFault) in try reader.string() }
    }
    func decode(_ type: Double.Type) throws -> Double {
        try decoder.scalar(node(), .double) { reader throws(WireFault) in try reader.double() }
    }
    func decode(_ type: Float.Type) throws -> Float {
        Float(try decoder.scalar(node(), .double) { reader throws(WireFault) in try reader.double() })
    }
    func decode(_ type: Int.Type) throws -> Int {
        Int(try decoder.scalar(node(), .int64) { reader throws(WireFault) in try reader.int64() })
    }
    func decode(_ type: Int8.Type) throws -> Int8 {
        try decoder.int8(node())
    }
    func decode(_ type: Int16.Type) throws -> Int16 {
        try decoder.scalar(node(), .int16) { reader throws(WireFault) in try reader.int16() }
    }
    func decode(_ type: Int32.Type) throws -> Int32 {
        try decoder.scalar(node(), .int32) { reader throws(WireFault) in try reader.int32() }
    }
    func decode(_ type: Int64.Type) throws -> Int64 {
        try decoder.scalar(node(), .int64) { reader throws(WireFault) in try reader.int64() }
    }
    func decode(_ type: UInt.Type) throws -> UInt {
        UInt(try decoder.scalar(node(), .uint64) { reader throws(WireFault) in try reader.uint64() })
    }
    func decode(_ type: UInt8.Type) throws -> UInt8 {
        try decoder.scalar(node(), .byte) { reader throws(WireFault) in try reader.byte() }
    }
    func decode(_ type: UInt16.Type) throws -> UInt16 {
        try decoder.scalar(node(), .uint16) { reader throws(WireFault) in try reader.uint16() }
    }
    func decode(_ type: UInt32.Type) throws -> UInt32 {
        try decoder.scalar(node(), .uint32) { reader throws(WireFault) in try reader.uint32() }
    }
    func decode(_ type: UInt64.Type) throws -> UInt64 {
        try decoder.scalar(node(), .uint64) { reader throws(WireFault) in try reader.uint64() }
    }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.value(type, node()) }
    func decodeNil() -> Bool { decoder.isNil(id) }
}
