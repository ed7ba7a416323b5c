/// Encodes a sample by the schema and decodes it again: `encode(to:)` and `init(from:)` written by hand may disagree,
/// which would otherwise show at the first publish.
enum RoundTrip {
    static func check<T: Decodable>(_ sample: T, as wire: WireType, _ probe: SchemaProbe, at path: [String])
        throws(SchemaRefusal)
    {
        guard let encodable = sample as? any Encodable else { return }
        if case .structure(let fields) = wire, fields.isEmpty { return }
        // A sample of a descriptor is none.
        if wire.hasDescriptors { return }
        var writer = WireWriter()
        let field = WireField(
            name: "value", type: wire, swiftType: "", cases: [], hasSets: false, hasForeign: probe.hasForeign(T.self))
        let plan = WirePlan([field])
        do throws(RelayError) {
            try WireEncoder.encode(encodable, of: T.self, isStructure: false, CoderPool(plan), into: &writer)
        } catch {
            throw probe.refusal(path, "encode(to:) does not write what init(from:) reads: \(error.message)")
        }
        do {
            try writer.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                _ = try WireDecoder.decode(T.self, isStructure: false, CoderPool(plan), from: &reader)
            }
        } catch {
            throw probe.refusal(
                path, "init(from:) refuses what encode(to:) writes: \((error as? RelayError)?.message ?? "\(error)")")
        }
    }
}

/// Values that validating types are likely to accept, by round.
enum Samples {
    static let strings = [
        "", "00000000-0000-0000-0000-000000000000", "0", "a", "A", "1970-01-01T00:00:00Z", "/", "a@b.org", "127.0.0.1",
        "EUR",
    ]
    static let integers = [0, 1, 5, 10, 20, 100]
    static let rounds = strings.count
    static func integer<I: FixedWidthInteger>(_ round: Int) -> I { I(clamping: integers[round % integers.count]) }
}
