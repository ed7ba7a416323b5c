/// The one value that a type reads in its own place.
struct SingleRun: SingleValueDecodingContainer {
    let run: ProbeRun
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try run.readSingle(type) }
}
