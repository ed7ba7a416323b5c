/// What a type's `init(from:)` gets: a decoder that serves one value after the other.
///
/// One that a type keeps beyond its `init(from:)` is refused: its `run` is over.
struct WireDecoding: Decoder {
    let decoder: WireDecoder
    private let run: UInt64

    @inline(__always) init(_ decoder: WireDecoder) { (self.decoder, run) = (decoder, decoder.run) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try checkRun()
        return try decoder.keyedContainer(type)
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try checkRun()
        return WireUnkeyedDecoding(decoder: decoder, id: try decoder.startUnkeyed())
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try checkRun()
        return WireSingleDecoding(decoder: decoder, id: try decoder.startSingle())
    }
    @inline(__always) func checkRun() throws {
        if run != decoder.run { throw decoder.over() }
    }
}
