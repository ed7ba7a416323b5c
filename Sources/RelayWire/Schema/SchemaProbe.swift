/// Derives the shape of a type by running its `init(from:)` against a decoder that has no data: every read is written
/// down and answered with a sample.
final class SchemaProbe {
    static let nestedOptional = "an optional of an optional; D-Bus cannot tell nil from an empty value: flatten it"

    let root: String
    private var inProgress: [ObjectIdentifier] = []
    private var known: [ObjectIdentifier: (WireType, any Decodable)] = [:]
    /// The types with a `Set` in them, however deep: one value has many encodings.
    private var withSets: Set<ObjectIdentifier> = []
    /// The types with a `WireRepresented` one in them, however deep.
    private var withForeign: Set<ObjectIdentifier> = []

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
        if let (wire, sample) = known[id] {
            if withSets.contains(id) { withSets.formUnion(inProgress) }
            if withForeign.contains(id) { withForeign.formUnion(inProgress) }
            return (wire, sample as! T)
        }
        if inProgress.contains(id) { throw refusal(path, "\(type) contains itself; D-Bus has no recursive types") }
        inProgress.append(id)
        defer { inProgress.removeLast() }
        if type is any WithoutOrder.Type { withSets.formUnion(inProgress) }
        if type is any WireRepresented.Type { withForeign.formUnion(inProgress) }
        let result = try newShape(of: type, at: path)
        if result.0.isTooDeep {
            throw refusal(path, "nested deeper than D-Bus allows (\(WireLimits.depthOfOneKind) of one kind)")
        }
        known[id] = result
        return result
    }

    /// Whether there is a `Set` in a type whose shape is known, however deep.
    func hasSets(_ type: Any.Type) -> Bool { withSets.contains(ObjectIdentifier(type)) }

    /// Whether there is a type of another library in a type whose shape is known, however deep.
    func hasForeign(_ type: Any.Type) -> Bool { withForeign.contains(ObjectIdentifier(type)) }

    private func newShape<T: Decodable>(of type: T.Type, at path: [String]) throws(SchemaRefusal) -> (WireType, T) {
        if let primitive = type as? any WirePrimitive.Type { return (primitive.wireType, primitive.sample(0) as! T) }
        if let foreign = type as? any WireRepresented.Type {
            func shape<F: WireRepresented>(of foreign: F.Type) throws(SchemaRefusal) -> (WireType, T) {
                (try self.shape(of: F.Carried.self, at: path).0, F.wireExample as! T)  // The same type.
            }
            return try shape(of: foreign)
        }
        if let reason = ForeignTypes.refusal(of: type) { throw refusal(path, reason) }
        if let special = type as? any WireGenericType.Type {
            let (wire, sample) = try special.shape(self, at: path)
            return (wire, sample as! T)
        }
        if let cases = type as? any (RawRepresentable & CaseIterable).Type {
            return try caseShape(cases, type, at: path)
        }
        let (wire, sample) =
            type is any TaggedEnum.Type
            ? try TaggedProbe(probe: self, path: path).shape(of: type) : try probedShape(of: type, at: path)
        guard let renamed = type as? any RenamedFields.Type else { return (wire, sample) }
        return (try wire.renamed(renamed.formerNames) { refusal(path + [$0], $1) }, sample)
    }

    private func caseShape<R: RawRepresentable & CaseIterable, T: Decodable>(
        _ cases: R.Type, _ type: T.Type, at path: [String]
    )
        throws(SchemaRefusal) -> (WireType, T)
    {
        guard let first = cases.allCases.first else { throw refusal(path, "\(type) has no cases") }
        guard let raw = R.RawValue.self as? any WirePrimitive.Type else {
            throw refusal(
                path, "\(type) has a raw value of type \(R.RawValue.self); D-Bus can carry integers and strings")
        }
        for value in cases.allCases { try RoundTrip.check(value as! T, as: raw.wireType, self, at: path) }
        return (raw.wireType, first as! T)
    }

    /// Several rounds with other samples, for types that accept only some values (a UUID, a range, a port number).
    private func probedShape<T: Decodable>(of type: T.Type, at path: [String]) throws(SchemaRefusal) -> (WireType, T) {
        var lastError: (any Error)?
        for round in 0..<Samples.rounds {
            let run = ProbeDecoder(probe: self, path: path, round: round)
            do {
                let value = try type.init(from: run)
                let wire = try run.wireType(of: type)
                try RoundTrip.check(value, as: wire, self, at: path)
                return (wire, value)
            } catch let refusal as SchemaRefusal {
                throw refusal
            } catch {
                if run.readsAllKeys {
                    throw refusal(
                        path,
                        advice(
                            type,
                            "if it is an enum with payloads, conform it to TaggedEnum; without payloads, give it raw "
                                + "values; keys that only its data know cannot be sent"))
                }
                if let example = (type as? any WireExample.Type)?.wireExample as? T {
                    let wire = try run.wireType(of: type)
                    try RoundTrip.check(example, as: wire, self, at: path)
                    return (wire, example)
                }
                lastError = error
            }
        }
        if type is any RawRepresentable.Type {
            throw refusal(path, advice(type, "its cases are unknown; make \(type) CaseIterable"))
        }
        throw refusal(path, "\(type) accepts no sample value (\(reason(lastError))); make it a WireExample")
    }
    func hugeRefusal<T>(_ type: T.Type, _ path: [String]) -> SchemaRefusal {
        refusal(path, "\(type) has no D-Bus form; the widest integers are Int64 and UInt64")
    }
    func advice<T>(_ type: T.Type, _ text: String) -> String { "\(type) has no D-Bus form: \(text)" }
    func reason(_ error: (any Error)?) -> String {
        switch error as? DecodingError {
        case .dataCorrupted(let context)?, .typeMismatch(_, let context)?, .valueNotFound(_, let context)?,
            .keyNotFound(_, let context)?:
            context.debugDescription
        default: error.map { "\($0)" } ?? "no reason given"
        }
    }
}

extension WireType {
    /// A structure whose fields had other names. Refuses a former name that is one of today's, or leads to none of
    /// them.
    fileprivate func renamed(_ names: [String: String], _ refusal: (String, String) -> SchemaRefusal)
        throws(SchemaRefusal) -> WireType
    {
        var fields: [WireField] = []
        if case .structure(let all) = self { fields = all }
        for (former, present) in names.sorted(by: { $0.key < $1.key }) {
            if !BusNames.isMember(former) { throw refusal(present, "its former name '\(former)' is none of D-Bus") }
            if fields.contains(where: { $0.name == former }) {
                throw refusal(former, "it is also a former name, of '\(present)': one of the two must go")
            }
            if !fields.contains(where: { $0.name == present }) {
                throw refusal(
                    present, "formerNames has it as the present name of '\(former)', and there is no such field")
            }
        }
        if names.isEmpty { return self }
        return .structure(
            fields.map { field in field.named(formerly: names.filter { $0.value == field.name }.map(\.key)) })
    }
}

/// A collection that is encoded in an order of its process, as an array. (A dictionary's shape shows what it is.)
private protocol WithoutOrder {}
extension Set: WithoutOrder {}
