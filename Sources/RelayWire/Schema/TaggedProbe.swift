/// Derives the shape of an enum with payloads: decodes each of its cases by a decoder without data.
///
/// Swift's synthesised `init(from:)` asks a container for all its keys, expects the key of one case, and reads the
/// payload from the container that is nested under it.
struct TaggedProbe {
    let probe: SchemaProbe
    let path: [String]

    func shape<T: Decodable>(of type: T.Type) throws(SchemaRefusal) -> (WireType, T) {
        let isOpen = type is any OpenTaggedEnum.Type
        var variants: [WireVariant] = []
        var samples: [T] = []
        var (index, count) = (0, 1)
        while index < count {
            let (run, sample) = try decoded(type, index)
            (index, count) = (index + 1, run.count)
            guard let name = run.name else { throw notSynthesised(type) }
            if !BusNames.isMember(name) {
                throw probe.refusal(path + [name], "not a D-Bus name: ASCII letters, digits and underscores only")
            }
            // The case for what this program does not know is no case of the contract.
            guard let sample else {
                if isOpen { continue }
                throw probe.refusal(path + [name], "only the case of an OpenTaggedEnum has an UnknownCase")
            }
            let fields = run.payload?.fields ?? []
            if fields.contains(where: { $0.type.hasDescriptors }) {
                throw probe.refusal(path + [name], "a file descriptor in an enum; declare it as a field of its own")
            }
            let payload = WireType.structure(fields)
            if payload.isTooDeep {
                throw probe.refusal(
                    path + [name], "nested deeper than D-Bus allows (\(WireLimits.depthOfOneKind) of one kind)")
            }
            let variant = WireVariant(name: name, fields: fields, isOpen: isOpen)
            if let fault = variant.fault { throw probe.refusal(path, "its signature is none for D-Bus: \(fault)") }
            variants.append(variant)
            samples.append(sample)
        }
        guard let first = samples.first else { throw probe.refusal(path, "\(type) has no cases") }
        let wire = WireType.tagged(variants)
        for sample in samples { try RoundTrip.check(sample, as: wire, probe, at: path) }
        return (wire, first)
    }
    /// One case with a sample; no sample for the case of an `UnknownCase`.
    private func decoded<T: Decodable>(_ type: T.Type, _ index: Int) throws(SchemaRefusal) -> (VariantRun, T?) {
        var lastError: (any Error)?
        for round in 0..<Samples.rounds {
            let run = VariantRun(index)
            let decoder = ProbeDecoder(probe: probe, path: path, round: round)
            decoder.variant = run
            do {
                let sample = try type.init(from: decoder)
                if run.payload == nil { throw notSynthesised(type) }
                return (run, sample)
            } catch let refusal as SchemaRefusal {
                throw refusal
            } catch is UnknownCaseRead {
                return (run, nil)
            } catch {
                if let fault = run.fault { throw probe.refusal(path, "\(type) has no D-Bus form: \(fault)") }
                if run.name == nil { throw notSynthesised(type) }
                lastError = error
            }
        }
        throw probe.refusal(
            path, "\(type) accepts no sample value (\(probe.reason(lastError))); make its payload a WireExample")
    }
    private func notSynthesised<T>(_ type: T.Type) -> SchemaRefusal {
        probe.refusal(path, probe.advice(type, "a TaggedEnum needs the init(from:) that Swift writes for it"))
    }
}

/// What the probe throws where an `UnknownCase` would be read.
struct UnknownCaseRead: Error, CustomStringConvertible {
    var description: String { "an UnknownCase is the payload of a case of an OpenTaggedEnum, and nothing else" }
}

/// One case of an enum, while it is probed.
final class VariantRun {
    private let index: Int
    /// How many cases the enum has; known once it has asked for its keys.
    private(set) var count = 1
    private(set) var name: String?
    /// Why its cases cannot be found.
    private(set) var fault: String?
    var payload: ProbeDecoder?

    init(_ index: Int) { self.index = index }

    func key<Key: CodingKey>(_ type: Key.Type) -> Key? {
        do throws(EnumKeys.Fault) {
            let keys = try EnumKeys.all(type)
            count = keys.count
            guard keys.indices.contains(index) else { return nil }
            name = keys[index].stringValue
            return keys[index]
        } catch {
            fault = error.reason
            return nil
        }
    }
}
