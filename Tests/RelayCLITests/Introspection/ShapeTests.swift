import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Shapes", .tags(.g8))
struct ShapeTests {
    @Test(
        "an annotation names nested fields and optionals",
        arguments: [
            ("i", "int32", "i"), ("as", "[string]", "as"), ("?d", "double?", "ad"), ("a?s", "[string?]", "aas"),
            ("a{s?x}", "[string: int64?]", "a{sax}"),
            ("(width:d,height:?d)", "(width: double, height: double?)", "(dad)"),
            (
                "a(label:s,sizes:a(w:n,h:q),m:a{tb})",
                "[(label: string, sizes: [(w: int16, h: uint16)], m: [uint64: bool])]",
                "a(sa(nq)a{tb})"
            ),
            ("ay", "[byte]", "ay"),
        ])
    func annotation(text: String, shown: String, signature: String) throws {
        let shape = try #require(Shape(annotation: text))
        #expect(shape.text == shown)
        #expect(shape.signature == signature)
    }

    @Test(
        "what is no annotation is refused",
        arguments: [
            "", "z", "ii", "a", "?", "()", "(:i)", "(a:)", "(a:i", "(a:i,)", "(a:i b:i)", "(ai)", "a{", "a{s}", "a{si",
            "a{(a:i)i}", "a{sii}", "{si}", "(a:i))", "e", "r", "\u{0}",
        ])
    func refused(text: String) {
        #expect(Shape(annotation: text) == nil)
    }

    @Test("depth and length are bounded")
    func bounds() {
        let deepest = String(repeating: "a", count: 32) + "i"
        #expect(Shape(annotation: deepest) != nil)
        #expect(Shape(annotation: "a" + deepest) == nil)
        #expect(Shape(annotation: "?" + deepest) == nil)
        #expect(Shape(annotation: String(repeating: "(x:", count: 33) + "i" + String(repeating: ")", count: 33)) == nil)
        #expect(Shape(annotation: String(repeating: "(x:", count: 1_000_000)) == nil)
        let wide = "(" + (0..<30_000).map { "f\($0):i" }.joined(separator: ",") + ")"
        #expect(Shape(annotation: wide) == nil)
    }

    @Test("a signature alone gives a shape without names, and its signature again")
    func fromSignature() throws {
        for text in ["y", "v", "a{sv}", "a(ia(sd)a{xas})", "((y)(bb))"] {
            let types = try Signature(text).types
            #expect(types.map { Shape($0).signature }.joined() == text)
        }
    }
}
