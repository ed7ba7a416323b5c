import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Typed values", .tags(.g8))
struct ArgumentEncoderTests {
    private func command(_ shapes: [(String, String)]) throws -> IntrospectedCommand {
        IntrospectedCommand(
            name: "Do",
            arguments: try shapes.map { name, annotation in
                IntrospectedField(name: name, shape: try Samples.shape(annotation))
            })
    }
    private func encode(_ annotation: String, _ text: String) throws -> [UInt8] {
        try ArgumentEncoder.body(of: try command([("v", annotation)]), from: [.init(key: "v", value: text)])
    }

    @Test("arguments go in the command's order, whatever the order they are given in")
    func order() throws {
        let body = try ArgumentEncoder.body(
            of: try Samples.relocation().commands[0],
            from: [.init(key: "capacity", value: "10"), .init(key: "label", value: "Kitchen")])
        #expect(
            body
                == (try Samples.body {
                    try $0.string("Kitchen")
                    $0.int32(10)
                }))
    }

    @Test(
        "what does not fit is a bad value, which the message names",
        arguments: [
            ("y", "256", "byte, from 0 to 255"), ("y", "-1", "'-1'"), ("n", "32768", "int16, from -32768 to 32767"),
            ("i", "ten", "'ten'; it must be int32"), ("i", "", "''"), ("i", "1.0", "'1.0'"), ("i", " 1", "' 1'"),
            ("i", "0x10", "'0x10'"), ("x", "9223372036854775808", "'9223372036854775808'"),
            ("t", "-0.1", "'-0.1'"), ("b", "yes", "true or false"), ("b", "1", "true or false"), ("d", "x", "'x'"),
            ("d", "1e999", "'1e999'"), ("d", "0x1p3", "'0x1p3'"), ("d", "nan", "'nan'"), ("o", "a/b", "object path"),
            ("g", "a{", "signature"), ("h", "1", "cannot be given on a command line"),
            ("ai", "1,2", "needs JSON for [int32]; '1,2' is none"), ("ai", "[1,\"2\"]", "'v[1]' is the text '2'"),
            ("ai", "[1,2.5]", "'v[1]' is '2.5'"), ("ai", "{}", "'v' is an object"), ("as", "[1]", "'v[0]' is 1"),
            ("ab", "[\"true\"]", "'v[0]'"), ("ai", "[null]", "'v[0]' is null"),
            ("(a:i,b:s)", "{\"a\":1}", "'v' lacks 'b', which must be string"),
            ("(a:i,b:s)", "{\"a\":1,\"b\":\"\",\"c\":2}", "'v' has no field 'c'"),
            ("(width:i)", "{\"widht\":1}", "did you mean 'width'?"),
            ("(a:i)", "{\"a\":1,\"a\":2}", "'v.a' is given twice"), ("(a:i,b:s)", "[1]", "'v' is an array"),
            ("(a:(b:y))", "{\"a\":{\"b\":300}}", "'v.a.b' is '300'"),
            ("a{is}", "{\"x\":\"\"}", "key 'x'"), ("a{sy}", "{\"k\":-1}", "'v.k' is '-1'"),
            ("v", "[1]", "a variant is"), ("?i", "x", "'x'"), ("ai", "[1", "missing"),
        ])
    func badValues(annotation: String, text: String, message: String) throws {
        let failure = try #require(throws: CLIFailure.self) { try encode(annotation, text) }
        #expect(failure.code == .badValue)
        #expect(failure.message.contains(message), "\(failure.message)")
        #expect(failure.message.contains("'v"), "the message names the argument: \(failure.message)")
    }

    @Test("bare values go as they are")
    func bare() throws {
        #expect(try encode("s", "\"quoted\" & 1") == (try Samples.body { try $0.string("\"quoted\" & 1") }))
        #expect(try encode("s", "") == (try Samples.body { try $0.string("") }))
        #expect(try encode("i", "-5") == Samples.body { $0.int32(-5) })
        #expect(try encode("t", "18446744073709551615") == Samples.body { $0.uint64(.max) })
        #expect(try encode("d", "-1.5e3") == Samples.body { $0.double(-1_500) })
        #expect(try encode("d", "-Infinity") == Samples.body { $0.double(-.infinity) })
        #expect(try encode("b", "false") == Samples.body { $0.bool(false) })
    }

    @Test("an optional may be left out, be null, or have its value")
    func optionals() throws {
        let none = try Samples.body { try $0.endArray($0.beginArray(elementAlignment: 4)) }
        let command = try command([("v", "?i")])
        #expect(try ArgumentEncoder.body(of: command, from: []) == none)
        #expect(try encode("?i", "null") == none)
        let some = try Samples.body { writer in
            let mark = writer.beginArray(elementAlignment: 4)
            writer.int32(7)
            try writer.endArray(mark)
        }
        #expect(try encode("?i", "7") == some)
        // A text is never "no text".
        let text = try Samples.body { writer in
            let mark = writer.beginArray(elementAlignment: 4)
            try writer.string("null")
            try writer.endArray(mark)
        }
        #expect(try encode("?s", "null") == text)
        #expect(
            try encode("(a:i,b:?s)", "{\"a\":1}")
                == (try Samples.body { writer in
                    writer.align(8)
                    writer.int32(1)
                    try writer.endArray(writer.beginArray(elementAlignment: 4))
                }))
    }

    @Test("a variant takes the type that the JSON suggests")
    func variants() throws {
        #expect(
            try encode("v", "1")
                == (try Samples.body {
                    $0.signature(try Signature("x"))
                    $0.int64(1)
                }))
        #expect(
            try encode("a{sv}", "{\"k\":\"x\"}")
                == (try Samples.body { writer in
                    let mark = writer.beginArray(elementAlignment: 8)
                    writer.align(8)
                    try writer.string("k")
                    writer.signature(try Signature("s"))
                    try writer.string("x")
                    try writer.endArray(mark)
                }))
    }

    @Test("a missing key is a bad value; an unknown one is wrong usage, with a near miss")
    func keys() throws {
        let order = try Samples.relocation().commands[0]
        let missing = try #require(throws: CLIFailure.self) {
            try ArgumentEncoder.body(of: order, from: [.init(key: "label", value: "x")])
        }
        #expect(
            missing
                == CLIFailure(
                    .usage, "'OrderBox' needs 'capacity': capacity=<int32>; 'call OrderBox --help' explains it"))
        let unknown = try #require(throws: CLIFailure.self) {
            try ArgumentEncoder.body(of: order, from: [.init(key: "capcity", value: "x")])
        }
        #expect(unknown == CLIFailure(.usage, "'OrderBox' has no argument 'capcity'; did you mean 'capacity'?"))
        let extra = try #require(throws: CLIFailure.self) {
            try ArgumentEncoder.body(of: try Samples.relocation().commands[2], from: [.init(key: "a", value: "x")])
        }
        #expect(extra == CLIFailure(.usage, "'Contents' has no argument 'a'; it takes none"))
    }
}
