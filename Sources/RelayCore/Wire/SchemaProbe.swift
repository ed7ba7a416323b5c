/// Derives the shape of a type by running its `init(from:)` against a decoder that has no data: every read is written down
/// and answered with a sample.
final class SchemaProbe {
    let root: String
    private var inProgress: [ObjectIdentifier] = []
    private var known: [ObjectIdentifier: (WireType, any Decodable)] = [:]

    init(root: String) { self.root = root }

    func refusal(_ path: [String], _ reason: String) -> SchemaRefusal {
        SchemaRefusal(type: root, field: Self.text(path), reason: reason)
    }
    private static func text(_ path: [String]) -> String {
        path.reduce(into: "") { text, part in
            let isSuffix = part.hasPrefix("[") || part.hasPrefix("{") || part.hasPrefix("?")
            text += text.isEmpty || isSuffix ? part : "." + part
        }
    }

    func shape<T: Decodable>(of type: T.Type, at path: [String]) throws(SchemaRefusal) -> (WireType, T) {
        let id = ObjectIdentifier(type)
        if let (wire, sample) = known[id] { return (wire, sample as! T) }
        if inProgress.contains(id) { throw refusal(path, "\(type) contains itself; D-Bus has no recursive types") }
        inProgress.append(id)
        defer { inProgress.removeLast() }
        let result = try newShape(of: type, at: path)
        let depth = result.0.depth
        if depth.arrays > 32 || depth.structures > 32 { throw refusal(path, "nested deeper than D-Bus allows (32)") }
        known[id] = result
        return result
    }

    private func newShape<T: Decodable>(of type: T.Type, at path: [String]) throws(SchemaRefusal) -> (WireType, T) {
        if let primitive = type as? any WirePrimitive.Type { return (primitive.wireType, primitive.sample(0) as! T) }
        if let special = type as? any WireSpecial.Type {
            let (wire, sample) = try special.shape(self, at: path)
            return (wire, sample as! T)
        }
        if let cases = type as? any (RawRepresentable & CaseIterable).Type {
            return try caseShape(cases, type, at: path)
        }
        return try probedShape(of: type, at: path)
    }

    private func caseShape<R: RawRepresentable & CaseIterable, T>(_ cases: R.Type, _ type: T.Type, at path: [String])
        throws(SchemaRefusal) -> (WireType, T)
    {
        guard let first = cases.allCases.first else { throw refusal(path, "\(type) has no cases") }
        guard let raw = R.RawValue.self as? any WirePrimitive.Type else {
            throw refusal(
                path, "\(type) has a raw value of type \(R.RawValue.self); D-Bus can carry integers and strings")
        }
        return (raw.wireType, first as! T)
    }

    /// Several rounds with other samples, for types that accept only some values (a UUID, a range, a port number).
    private func probedShape<T: Decodable>(of type: T.Type, at path: [String]) throws(SchemaRefusal) -> (WireType, T) {
        var lastError: (any Error)?
        for round in 0..<Samples.rounds {
            let run = ProbeRun(probe: self, path: path, round: round)
            do {
                let value = try type.init(from: run)
                return (try run.wireType(of: type), value)
            } catch let refusal as SchemaRefusal {
                throw refusal
            } catch {
                if run.readsAllKeys {
                    throw refusal(
                        path,
                        advice(
                            type,
                            "it is an enum with payloads or without raw values, or has keys that only its data know"))
                }
                if let example = (type as? any WireExample.Type)?.wireExample as? T {
                    return (try run.wireType(of: type), example)
                }
                lastError = error
            }
        }
        if type is any RawRepresentable.Type {
            throw refusal(path, advice(type, "its cases are unknown; make \(type) CaseIterable"))
        }
        throw refusal(path, "\(type) accepts no sample value (\(reason(lastError))); make it a WireExample")
    }
    private func advice<T>(_ type: T.Type, _ text: String) -> String { "\(type) has no D-Bus form: \(text)" }
    private func reason(_ error: (any Error)?) -> String {
        switch error as? DecodingError {
        case .dataCorrupted(let context)?, .typeMismatch(_, let context)?, .valueNotFound(_, let context)?,
            .keyNotFound(_, let context)?:
            context.debugDescription
        default: error.map { "\($0)" } ?? "no reason given"
        }
    }

    /// D-Bus names are ASCII letters, digits and underscores.
    static func isLegal(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 255, !(48...57).contains(first) else { return false }
        return name.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
        }
    }
}

/// One run of one type's `init(from:)`.
private final class ProbeRun: Decoder {
    let probe: SchemaProbe
    let path: [String]
    let round: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var fields: [WireField] = []
    var readsAllKeys = false
    private var keyed = false
    private var single: WireType?
    private var sequence: SequenceRun?

    init(probe: SchemaProbe, path: [String], round: Int) { (self.probe, self.path, self.round) = (probe, path, round) }

    func wireType<T>(of type: T.Type) throws(SchemaRefusal) -> WireType {
        if let single { return single }
        if let sequence { return try sequence.wireType() }
        if !keyed && fields.isEmpty && !path.isEmpty {
            throw probe.refusal(path, "\(type) has no fields; D-Bus has no empty structure")
        }
        if fields.isEmpty && !path.isEmpty {
            throw probe.refusal(path, "\(type) has no fields; D-Bus has no empty structure")
        }
        return .structure(fields)
    }
    func read<T: Decodable>(_ type: T.Type, _ key: String, isOptional: Bool) throws -> T {
        guard SchemaProbe.isLegal(key) else {
            throw probe.refusal(path + [key], "not a D-Bus name: ASCII letters, digits and underscores only")
        }
        let (wire, sample) = try sampled(type, at: path + (isOptional ? [key, "?"] : [key]))
        if !fields.contains(where: { $0.name == key }) {
            fields.append(
                WireField(
                    name: key, type: isOptional ? .optional(wire) : wire, swiftType: "\(type)\(isOptional ? "?" : "")"))
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
        if let primitive = type as? any WirePrimitive.Type {
            return (primitive.wireType, primitive.sample(round) as! T)
        }
        return try probe.shape(of: type, at: path)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        keyed = true
        return KeyedDecodingContainer(KeyedRun<Key>(run: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let sequence = SequenceRun(run: self)
        self.sequence = sequence
        return sequence
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleRun(run: self) }
}

private struct KeyedRun<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: ProbeRun
    private final class Asked { var keys: Set<String> = [] }
    private let asked = Asked()
    init(run: ProbeRun) { self.run = run }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        run.readsAllKeys = true
        return []
    }
    func contains(_ key: Key) -> Bool { true }
    /// Also what `decodeIfPresent` begins with: the field is optional.
    func decodeNil(forKey key: Key) throws -> Bool {
        asked.keys.insert(key.stringValue)
        return false
    }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try run.read(type, key.stringValue, isOptional: asked.keys.contains(key.stringValue))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        throw run.probe.refusal(run.path + [key.stringValue], "a container nested by hand; declare a structure instead")
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
private final class SequenceRun: UnkeyedDecodingContainer {
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

private struct SingleRun: SingleValueDecodingContainer {
    let run: ProbeRun
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try run.readSingle(type) }
}
