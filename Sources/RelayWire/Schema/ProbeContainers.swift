/// One run of one type's `init(from:)`.
final class ProbeDecoder: Decoder {
    let probe: SchemaProbe
    let path: [String]
    let round: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var fields: [WireField] = []
    var readsAllKeys = false
    /// Of an enum with payloads: the case that this run decodes.
    var variant: VariantRun?
    private var single: WireType?
    private var sequence: ProbeUnkeyedContainer?

    init(probe: SchemaProbe, path: [String], round: Int) { (self.probe, self.path, self.round) = (probe, path, round) }

    func wireType<T>(of type: T.Type) throws(SchemaRefusal) -> WireType {
        if let single { return single }
        if let sequence { return try sequence.wireType() }
        if fields.isEmpty && !path.isEmpty {
            throw probe.refusal(path, "\(type) has no fields; D-Bus has no empty structure")
        }
        return .structure(fields)
    }
    func read<T: Decodable>(_ type: T.Type, _ key: String, isOptional: Bool) throws -> T {
        guard BusNames.isMember(key) else {
            throw probe.refusal(path + [key], "not a D-Bus name: ASCII letters, digits and underscores only")
        }
        let (wire, sample) = try sampled(type, at: path + (isOptional ? [key, "?"] : [key]))
        if isOptional, case .optional = wire { throw probe.refusal(path + [key], SchemaProbe.nestedOptional) }
        if !fields.contains(where: { $0.name == key }) {
            fields.append(
                WireField(
                    name: key, type: isOptional ? .optional(wire) : wire, swiftType: "\(type)\(isOptional ? "?" : "")",
                    cases: WireCase.cases(of: type), hasSets: probe.hasSets(type), hasForeign: probe.hasForeign(type)))
        }
        return sample
    }
    func readSingle<T: Decodable>(_ type: T.Type) throws -> T {
        let (wire, sample) = try sampled(type, at: path)
        single = wire
        return sample
    }
    /// A primitive read by this very type varies with the round; a nested type has its own rounds.
    func sampled<T: Decodable>(_ type: T.Type, at path: [String]) throws -> (WireType, T) {
        if type == UnknownCase.self { throw UnknownCaseRead() }
        if let primitive = type as? any WirePrimitive.Type {
            return (primitive.wireType, primitive.sample(round) as! T)
        }
        return try probe.shape(of: type, at: path)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        return KeyedDecodingContainer(ProbeKeyedContainer<Key>(run: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let sequence = ProbeUnkeyedContainer(run: self)
        self.sequence = sequence
        return sequence
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { ProbeSingleValueContainer(run: self) }
}

/// The named fields that a type reads.
struct ProbeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: ProbeDecoder
    private final class Asked { var keys: Set<String> = [] }
    private let asked = Asked()
    init(run: ProbeDecoder) { self.run = run }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        run.readsAllKeys = true
        return run.variant?.key(Key.self).map { [$0] } ?? []
    }
    /// Who asks can do without: the field is optional.
    func contains(_ key: Key) -> Bool {
        asked.keys.insert(key.stringValue)
        return true
    }
    /// Also what `decodeIfPresent` begins with: the field is optional.
    func decodeNil(forKey key: Key) throws -> Bool {
        asked.keys.insert(key.stringValue)
        return false
    }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        throw run.probe.hugeRefusal(type, run.path + [key.stringValue])
    }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        throw run.probe.hugeRefusal(type, run.path + [key.stringValue])
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try run.read(type, key.stringValue, isOptional: asked.keys.contains(key.stringValue))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        guard let variant = run.variant, variant.name == key.stringValue, variant.payload == nil else {
            throw run.probe.refusal(
                run.path + [key.stringValue], "a container nested by hand; declare a structure instead")
        }
        let payload = ProbeDecoder(probe: run.probe, path: run.path + [key.stringValue], round: run.round)
        variant.payload = payload
        return KeyedDecodingContainer(ProbeKeyedContainer<Nested>(run: payload))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw run.probe.refusal(run.path + [key.stringValue], "a container nested by hand; declare an array instead")
    }
    func superDecoder() throws -> any Decoder {
        throw run.probe.refusal(run.path, "class inheritance has no D-Bus form")
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

/// A sequence that a type reads by hand: an array if it asks for the end, else a structure of what it reads.
final class ProbeUnkeyedContainer: UnkeyedDecodingContainer {
    let run: ProbeDecoder
    private var elements: [(WireType, String)] = []
    private var asksForEnd = false
    init(run: ProbeDecoder) { self.run = run }

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

/// The one value that a type reads in its own place.
struct ProbeSingleValueContainer: SingleValueDecodingContainer {
    let run: ProbeDecoder
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode(_ type: Int128.Type) throws -> Int128 { throw run.probe.hugeRefusal(type, run.path) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { throw run.probe.hugeRefusal(type, run.path) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try run.readSingle(type) }
}
