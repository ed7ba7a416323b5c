import Foundation
import TestTraits
import Testing

@testable import relay_cli

@Suite("JSON", .computing, .tags(.g8))
struct JSONParserTests {
    @Test("numbers keep their digits, members their order")
    func values() throws {
        #expect(
            try JSONParser.parse(
                #" { "b" : [ 18446744073709551615 , -0.10e+05, true,false , null ] , "a":"\u00e9\ud83d\udce6\/" } "#)
                == .object([
                    .init(
                        key: "b",
                        value: .array([
                            .number("18446744073709551615"), .number("-0.10e+05"), .bool(true), .bool(false), .null,
                        ])),
                    .init(key: "a", value: .string("é📦/")),
                ]))
        #expect(try JSONParser.parse("[]") == .array([]))
        #expect(try JSONParser.parse("{}") == .object([]))
    }

    @Test(
        "what is no JSON is refused",
        arguments: [
            "", " ", "nul", "truth", "01", "-", "+1", "1.", ".5", "1e", "1e+", "NaN", "[", "[1", "[1,", "[1,]", "[1 2]",
            "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{1:1}", "\"", "\"\\", "\"\\x\"", "\"\\u12\"",
            "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\n\"", "1 2", "[1]]", "'a'",
            "\u{FEFF}1",
        ])
    func refused(text: String) {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(text) }
    }

    @Test("depth is bounded")
    func depth() throws {
        _ = try JSONParser.parse(String(repeating: "[", count: 100) + String(repeating: "]", count: 100))
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test("20,000 mutated texts: taken or refused as Foundation does, but for the comma before ']' that it forgives")
    func differential() {
        let seeds = [
            #"{"a":[1,2.5e3,-0],"b":{"c":"x\n\u00e9","d":null},"e":true}"#, #"["\ud83d\udce6",[[]],{},false,123]"#,
        ]
        let alphabet = Array(#"{}[]:,"\ue0123456789truefalsn.-+ "#.utf8)
        var generator = SeededGenerator(seed: 99)
        for round in 0..<20_000 {
            var bytes = Array(seeds[round % 2].utf8)
            for _ in 0...Int(generator.next() % 2) {
                let index = Int(generator.next() % UInt64(bytes.count))
                let byte = alphabet[Int(generator.next() % UInt64(alphabet.count))]
                if generator.next() % 3 == 0 { bytes.remove(at: index) } else { bytes[index] = byte }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let ours = (try? JSONParser.parse(text)) != nil
            let theirs = (try? JSONDecoder().decode(Anything.self, from: Data(bytes))) != nil
            let hasTrailingComma = text.replacing(" ", with: "").contains(",]")
            #expect(ours == theirs || (hasTrailingComma && !ours), "seed 99, round \(round): \(text)")
        }
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {
            let single = try decoder.singleValueContainer()
            if single.decodeNil() { return }
            if (try? single.decode(Bool.self)) != nil || (try? single.decode(Double.self)) != nil { return }
            if (try? single.decode(String.self)) != nil || (try? single.decode([Anything].self)) != nil { return }
            _ = try single.decode([String: Anything].self)
        }
    }
}
