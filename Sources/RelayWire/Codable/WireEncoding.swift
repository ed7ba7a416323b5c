/// What a value's `encode(to:)` gets: an encoder that serves one value after the other.
///
/// One that a value keeps beyond its `encode(to:)` writes nothing: its `run` is over.
struct WireEncoding: Encoder {
    private let encoder: WireEncoder
    private let run: UInt64

    @inline(__always) init(_ encoder: WireEncoder) { (self.encoder, run) = (encoder, encoder.run) }
    private init(refused encoder: WireEncoder) { (self.encoder, run) = (encoder, .max) }
    /// One of no value: everything that is written to it fails.
    static func refused(_ encoder: WireEncoder) -> Self { Self(refused: encoder) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        run == encoder.run ? encoder.keyedContainer(type) : encoder.refused(type)
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let id = run == encoder.run ? encoder.startUnkeyed() : WireEncoder.refused
        return WireUnkeyedEncoding(encoder: encoder, id: id)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        WireSingleEncoding(encoder: encoder, id: run == encoder.run ? encoder.startSingle() : WireEncoder.refused)
    }
    /// Writes all the numbers that the bytes are, as the value that is on.
    func array(_ number: LayoutNumber, _ bytes: UnsafeRawBufferPointer) throws {
        if run != encoder.run { throw encoder.over() }
        try encoder.array(number, bytes)
    }
}
