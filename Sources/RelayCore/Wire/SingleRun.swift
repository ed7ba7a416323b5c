/// The one value that a type reads in its own place.
struct SingleRun: SingleValueDecodingContainer {
    let run: ProbeRun
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode(_ type: Int128.Type) throws -> Int128 { throw run.probe.hugeRefusal(type, run.path) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { throw run.probe.hugeRefusal(type, run.path) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try run.readSingle(type) }
}
