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
        let state = try WireField(parsing: "state:[idle,printing(page:i),failed(reason:(code:i))]")
        #expect(state.type.signature == "(sv)")
        #expect(
            state.type
                == .tagged([
                    WireVariant(name: "idle"),
                    WireVariant(name: "printing", fields: [.init(name: "page", type: .int32)]),
                    WireVariant(
                        name: "failed",
                        fields: [.init(name: "reason", type: .structure([.init(name: "code", type: .int32)]))]),
                ]))
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
            "a:a{?ss}", "a:(b:s)c:s", "a:{ss}", "a:[", "a:[]", "a:[b", "a:[b,]", "a:[b,b]", "a:[b()]", "a:[b:s]",
            "a:[b(s)]",
            "a:[1]", "a:a{[b]s}", "a|:s", "|a:s", "a|a:s", "a|b|b:s", "a:(b|c:s,c:s)", "a|1:s", "a:[b|c]",
            String(repeating: "a", count: 256) + ":s",
        ])
    func hostile(_ text: String) {
        let error = #expect(throws: RelayError.self) { try WireField(parsing: text) }
        #expect(error?.code == .invalidArgument)
    }
    @Test("depth and length are bounded, whatever the text") func bounded() throws {
        for prefix in ["a", "(a:", "?a", "a{s", "[a(b:", "[a(b:a{s"] {
            let text = "f:" + String(repeating: prefix, count: 100_000)
            #expect(throws: RelayError.self) { try WireField(parsing: text) }
        }
        #expect(try WireField(parsing: "f:" + String(repeating: "a", count: 32) + "y").type.isTooDeep == false)
        #expect(throws: RelayError.self) { try WireField(parsing: "f:" + String(repeating: "a", count: 33) + "y") }
        #expect(throws: RelayError.self) { try WireField(parsing: String(repeating: "f", count: 1_000_000)) }
    }
    @Test("an enum counts as libdbus counts it: a structure, a variant, and the payload in a signature of its own")
    func enumDepth() throws {
        // Each level has three containers; the innermost, without a payload, two.
        func nested(_ levels: Int) -> String {
            "f:" + String(repeating: "[c(p:", count: levels) + "[c]" + String(repeating: ")]", count: levels)
        }
        #expect(try WireField(parsing: nested(20)).type.depth == (0, 1, 62))
        #expect(try WireField(parsing: nested(20)).type.isTooDeep == false)
        #expect(throws: RelayError.self) { try WireField(parsing: nested(21)) }
        // The payload's signature begins anew.
        let arrays = String(repeating: "a", count: 29)
        #expect(try WireField(parsing: "f:\(arrays)[c(p:\(arrays)y)]").type.depth == (29, 1, 61))
        #expect(throws: RelayError.self) { try WireField(parsing: "f:[c(p:\(String(repeating: "a", count: 33))y)]") }
    }
    @Test("former names are in the contract's text alone, sorted, at any depth, and are not compared")
    func formerNames() throws {
        let text = "boxes|crates:a(title|caption|label:s,state:[failed(_0:(code|number:i))])"
        let field = try WireField(parsing: "boxes|crates:a(title|label|caption:s,state:[failed(_0:(code|number:i))])")
        #expect(field.formerNames == ["crates"])
        #expect(field.contractText == text)
        #expect(field.description == "boxes:a(title:s,state:[failed(_0:(code:i))])")
        let plain = try WireField(parsing: field.description)
        #expect(plain == field && plain.hashValue == field.hashValue && plain.contractText == field.description)
    }
    @Test("mutated descriptions are read or refused, and what is read describes itself")
    func mutations() throws {
        let alphabet = Array("abynqiuxtds?(){}[]|:,_9 \u{0}ä".utf8)
        var random = SeededGenerator(seed: 11)
        let base = Array(
            "shelves:a(label:s,sizes:a(width:d,depth:?d),byName:a{s(_0:i,_1:i)},state:[idle,printing(page|p:i)])".utf8)
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
            if let field = try? WireField(parsing: text) {
                #expect(field.contractText == text || text.contains("|"), "round \(round)")
            }
        }
    }
}
