import TestTraits
import Testing

@testable import RelayWire

@Suite("Generated pairs of contracts", .tags(.g8)) struct GeneratedPairsTests {
    private static let parts = 20
    private struct Tally {
        var (refused, refusedValues, same, moved) = (0, 0, 0, 0)
    }

    @Test(
        "each value arrives by name exactly, or its pair or it alone is refused; never another value",
        arguments: 0..<parts)
    func pairs(_ part: Int) throws {
        let count = TestForm.rounds(100_000, soak: 1_000_000) / Self.parts
        var tally = Tally()
        for number in 0..<count {
            let seed = UInt64(part * count + number)
            var pair = ContractPair(seed: seed)
            let rule: WireTranslation.Rule = seed % 2 == 0 ? .reading : .asking
            try Self.check(&pair, rule, seed, &tally)
        }
        // Each outcome often enough to have been tried.
        for outcome in [tally.refused, tally.refusedValues, tally.same, tally.moved] {
            #expect(outcome > count / 100, "\(tally)")
        }
    }
    private static func check(
        _ pair: inout ContractPair, _ rule: WireTranslation.Rule, _ seed: UInt64, _ tally: inout Tally
    ) throws {
        // What D-Bus could not carry is refused at a type's registration.
        for fields in [pair.sender, pair.receiver] where fields.map(\.type.shape).joined().utf8.count > 250 {
            return
        }
        let oracle = TranslationOracle(rule: rule)
        let connects = oracle.connects(pair.sender, pair.receiver)
        let translation: WireTranslation
        do throws(RelayError) {
            translation = try WireTranslation(from: pair.sender, to: pair.receiver, rule, of: "Pair")
        } catch {
            if connects || error.code != .schemaMismatch { Issue.record("seed \(seed): \(error)") }
            tally.refused += 1
            return
        }
        if !connects { Issue.record("seed \(seed): connected, and should have been refused") }
        do {
            let values = pair.value()
            let expected = try? oracle.moved(values, pair.sender, pair.receiver)
            let found = try translated(values, translation, pair.receiver)
            if found != expected { Issue.record("seed \(seed): \(String(describing: found)), \(rule)") }
            if expected == nil {
                tally.refusedValues += 1
            } else if translation.isIdentity {
                tally.same += 1
            } else {
                tally.moved += 1
            }
        }
    }
    /// Nil for a refused value.
    private static func translated(
        _ values: [DBusValue], _ translation: WireTranslation, _ receiver: [WireField]
    ) throws -> [DBusValue]? {
        var writer = WireWriter()
        try DBusValue.encode(values, into: &writer)
        let bytes: [UInt8]
        do throws(RelayError) { bytes = try translation.translate(writer.bytes) } catch {
            if error.code != .schemaMismatch { throw error }
            return nil
        }
        let signature = try Signature(receiver.map(\.type.signature).joined())
        return try DBusValue.decode(signature: signature, body: bytes)
    }
}
