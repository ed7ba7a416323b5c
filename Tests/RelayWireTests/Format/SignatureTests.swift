import CDBus
import TestTraits
import Testing

@testable import RelayWire

@Suite("Signatures", .tags(.g8)) struct SignatureTests {
    @Test("a signature is read to its types, and spelt as it was") func parsed() throws {
        let signature = try Signature("a{sv}(ta(sai))v")
        #expect(
            signature.types == [
                .dictionary(.string, .variant),
                .structure([.uint64, .array(.structure([.string, .array(.int32)]))]), .variant,
            ])
        #expect(try Signature(types: signature.types) == signature)
        #expect(try Signature("").types.isEmpty)
        #expect(signature.types.map(\.alignment) == [4, 8, 1])
    }
    @Test(
        "what is no signature is InvalidArgument with the reason",
        arguments: [
            "a", "(", ")", "()", "(s", "s)", "{sv}", "a{s}", "a{svv}", "a{vs}", "a{(s)s}", "a{sv", "z", "r", "e", "a)",
            "é", "s\0", "a{}", "(a)",
        ])
    func refused(_ text: String) {
        let error = #expect(throws: RelayError.self) { try Signature(text) }
        #expect(error?.code == .invalidArgument && error?.cause is SignatureFault)
        if !text.utf8.contains(0) { #expect(dbus_signature_validate(text, nil) == 0) }
    }
    @Test("255 characters pass, 256 do not") func length() throws {
        #expect(try Signature(String(repeating: "y", count: 255)).types.count == 255)
        #expect(throws: RelayError.self) { try Signature(String(repeating: "y", count: 256)) }
        #expect(throws: RelayError.self) { try Signature(String(repeating: "(", count: 100_000)) }
    }
    @Test("random texts are signatures for us exactly when they are for libdbus") func agreement() throws {
        let alphabet = Array("ybnqiuxtdsoghvaaa(((()))){{}}".utf8)
        var random = SeededGenerator(seed: 3)
        var accepted = 0
        let rounds = TestForm.rounds(8_000, soak: 50_000)
        for round in 0..<rounds {
            let text: String
            if random.chance(2) {
                var generator = Generator(seed: UInt64(round))
                var bytes = Array(generator.signature().text.utf8)
                bytes[random.below(bytes.count)] = alphabet[random.below(alphabet.count)]
                text = String(decoding: bytes, as: UTF8.self)
            } else {
                text = String(
                    decoding: (0..<random.below(12)).map { _ in alphabet[random.below(alphabet.count)] }, as: UTF8.self)
            }
            let ours = (try? Signature(text)) != nil
            accepted += ours ? 1 : 0
            #expect(ours == (dbus_signature_validate(text, nil) != 0), "\(text)")
        }
        #expect(accepted > rounds / 10)
    }
}
