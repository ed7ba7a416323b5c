/// A sequence that a type reads by hand: an array if it asks for the end, else a structure of what it reads.
final class SequenceRun: UnkeyedDecodingContainer {
    let run: ProbeRun
    private var elements: [(WireType, String)] = []
    private var asksForEnd = false
    init(run: ProbeRun) { self.run = run }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool {
        asksForEnd = true
        return !elements.isEmpty
    }
    var currentIndex: Int { elements.count }
    func decodeNil() throws -> Bool { false }
    func decode(_ type: Int128.Type) throws -> Int128 { throw run.probe.hugeRefusal(type, run.path + ["[]"]) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { throw run.probe.hugeRefusal(type, run.path + ["[]"]) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (wire, sample) = try run.sampled(type, at: run.path + ["[]"])
        elements.append((wire, "\(type)"))
        return sample
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw run.probe.refusal(run.path, "a container nested by hand; declare a structure instead")
    }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw run.probe.refusal(run.path, "a container nested by hand; declare an array instead")
    }
    func superDecoder() throws -> any Decoder {
        throw run.probe.refusal(run.path, "class inheritance has no D-Bus form")
    }

    func wireType() throws(SchemaRefusal) -> WireType {
        guard let first = elements.first else {
            throw run.probe.refusal(run.path, "a sequence of nothing has no D-Bus form")
        }
        if asksForEnd { return .array(first.0) }
        return .structure(
            elements.enumerated().map { WireField(name: "_\($0.offset)", type: $0.element.0, swiftType: $0.element.1) })
    }
}
