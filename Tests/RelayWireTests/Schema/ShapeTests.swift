import TestTraits
import Testing

@testable import RelayWire

@Suite("Shapes", .tags(.g8)) struct ShapeTests {
    @Test("a description is read back as the field that it describes")
    func roundTrip() throws {
        for seed: UInt64 in 0..<500 {
            var generator = Generator(seed: seed)
            for field in generator.fields() {
                let parsed = try WireField(parsing: field.description)
                #expect(parsed == field, "seed \(seed)")
                #expect(parsed.description == field.description)
                #expect(parsed.hashValue == field.hashValue)
            }
        }
        let field = try WireField(parsing: "boxes:a(boxID:x,items:as)")
        #expect(field.type.signature == "a(xas)")
        #expect(
            try WireField(parsing: "a:a{s?(b:y)}").type
                == .dictionary(.string, .optional(.structure([.init(name: "b", type: .byte)]))))
    }
    @Test(
        "text that describes no field is InvalidArgument",
        arguments: [
            "", "a", "a:", ":s", "a:z", "a:a", "a:?", "a:??s", "a:()", "a:(b:s", "a:(b:s,)", "a:(b:s,b:s)", "a:(s)",
            "a:a{ss", "a:a{s}", "a:a{ass}", "a:a{vs}", "a:ss", "a:s ", " a:s", "ä:s", "1:s", "a b:s", "a:v", "a:s\0",
            "a:a{?ss}", "a:(b:s)c:s", "a:{ss}", String(repeating: "a", count: 256) + ":s",
        ])
    func hostile(_ text: String) {
        let error = #expect(throws: RelayError.self) { try WireField(parsing: text) }
        #expect(error?.code == .invalidArgument)
    }
    @Test("depth and length are bounded, whatever the text") func bounded() throws {
        for prefix in ["a", "(a:", "?a", "a{s"] {
            let text = "f:" + String(repeating: prefix, count: 100_000)
            #expect(throws: RelayError.self) { try WireField(parsing: text) }
        }
        #expect(try WireField(parsing: "f:" + String(repeating: "a", count: 32) + "y").type.isTooDeep == false)
        #expect(throws: RelayError.self) { try WireField(parsing: "f:" + String(repeating: "a", count: 33) + "y") }
        #expect(throws: RelayError.self) { try WireField(parsing: String(repeating: "f", count: 1_000_000)) }
    }
    @Test("mutated descriptions are read or refused, and what is read describes itself")
    func mutations() throws {
        let alphabet = Array("abynqiuxtds?(){}:,_9 \u{0}ä".utf8)
        var random = SeededGenerator(seed: 11)
        let base = Array("shelves:a(label:s,sizes:a(width:d,depth:?d),byName:a{s(_0:i,_1:i)})".utf8)
        let rounds = TestForm.rounds(8_000, soak: 50_000)
        for round in 0..<rounds {
            var bytes = base
            for _ in 0...random.below(3) {
                let at = random.below(bytes.count)
                switch random.below(3) {
                case 0: bytes[at] = alphabet[random.below(alphabet.count)]
                case 1: bytes.remove(at: at)
                default: bytes.insert(alphabet[random.below(alphabet.count)], at: at)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let field = try? WireField(parsing: text) { #expect(field.description == text, "round \(round)") }
        }
    }
}
