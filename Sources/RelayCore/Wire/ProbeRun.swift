/// One run of one type's `init(from:)`.
final class ProbeRun: Decoder {
    let probe: SchemaProbe
    let path: [String]
    let round: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var fields: [WireField] = []
    var readsAllKeys = false
    private var single: WireType?
    private var sequence: SequenceRun?

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
        return KeyedDecodingContainer(KeyedRun<Key>(run: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let sequence = SequenceRun(run: self)
        self.sequence = sequence
        return sequence
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleRun(run: self) }
}
