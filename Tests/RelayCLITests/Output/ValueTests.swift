import Foundation
import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Values", .computing, .tags(.g8))
struct ValueTests {
    private func printed(_ shape: Shape, _ body: [UInt8]) throws -> String {
        let printer = FieldsPrinter(
            [IntrospectedField(name: "v", shape: shape)], signature: shape.signature, style: OutputStyle(json: true))
        var output = ByteBuffer()
        try printer.append(body, to: &output)
        return String(output.text.dropFirst(#""v":"#.count))
    }
    private func printed(_ signature: String, _ write: (inout WireWriter) throws -> Void) throws -> String {
        try printed(Shape(try Signature(signature).types[0]), try Samples.body(write))
    }

    @Test("every basic type, at its ends")
    func basics() throws {
        #expect(try printed("y") { $0.byte(255) } == "255")
        #expect(try printed("b") { $0.bool(true) } == "true")
        #expect(try printed("n") { $0.int16(.min) } == "-32768")
        #expect(try printed("q") { $0.uint16(.max) } == "65535")
        #expect(try printed("i") { $0.int32(.min) } == "-2147483648")
        #expect(try printed("u") { $0.uint32(.max) } == "4294967295")
        #expect(try printed("x") { $0.int64(.min) } == "-9223372036854775808")
        #expect(try printed("t") { $0.uint64(.max) } == "18446744073709551615")
        #expect(try printed("d") { $0.double(0.1) } == "0.1")
        #expect(try printed("d") { $0.double(.leastNonzeroMagnitude) } == "5e-324")
        #expect(try printed("d") { $0.double(1e300) } == "1e+300")
        #expect(try printed("d") { $0.double(.nan) } == #""NaN""#)
        #expect(try printed("d") { $0.double(-.infinity) } == #""-Infinity""#)
        #expect(try printed("s") { try $0.string("a\u{1B}b") } == #""a\u001bb""#)
        #expect(try printed("o") { try $0.objectPath("/a/b") } == #""/a/b""#)
        #expect(try printed("g") { $0.signature(try Signature("a{sv}")) } == #""a{sv}""#)
        #expect(try printed("h") { $0.uint32(0) } == "0")
    }

    @Test("people are shown about seven digits of a number with decimals; whole ones, and a Float's, as they are")
    func shortNumbers() throws {
        for (value, text) in [
            (0.1 + 0.2, "0.3"), (1.0 / 3, "0.3333333"), (Double(Float(0.1)), "0.1"),
            (Double(Float(1) / 3), "0.33333334"),
            (5, "5.0"), (-2.5, "-2.5"), (1_234.56789, "1234.568"), (123_456_789.26, "123456789.3"),
            (9_007_199_254_740_992, "9007199254740992.0"), (0.000123456789, "0.0001234568"),
            (1.23456789e-7, "1.234568e-07"),
            (1.0000000001, "1.0"), (1e300, "1e+300"), (-0.0, "-0.0"), (99.99999999, "100.0"),
            (1e15 + 0.5, "1.000000e+15"),
        ] {
            #expect(ShortNumber.text(value) == text)
        }
        let printer = FieldsPrinter(
            [IntrospectedField(name: "v", shape: .basic(.double))], signature: "d", style: OutputStyle())
        var output = ByteBuffer()
        try printer.append(Samples.body { $0.double(0.1 + 0.2) }, to: &output)
        #expect(output.text == "v=0.3")
        #expect(try printed("d") { $0.double(0.1 + 0.2) } == "0.30000000000000004")
    }

    @Test("of long arrays of numbers the first are shown where that is asked for, and how many follow")
    func shortened() throws {
        func shown(_ signature: String, _ count: Int, _ longest: Int, _ write: (inout WireWriter, Int) -> Void) throws
            -> String
        {
            let type = try Signature(signature).types[0]
            guard case .array(let element) = type else { return "" }
            let body = try Samples.body { writer in
                let mark = writer.beginArray(elementAlignment: element.alignment)
                for number in 0..<count { write(&writer, number) }
                try writer.endArray(mark)
            }
            var output = ByteBuffer()
            try body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                try ValuePrinter.append(Shape(type), from: &reader, to: &output, longest: longest)
                #expect(reader.isAtEnd)
            }
            return output.text
        }
        #expect(try shown("ay", 7, 6) { $0.byte(UInt8($1)) } == "[0,1,2,… 4 more]")
        #expect(try shown("an", 508, 4) { $0.int16(Int16(-$1)) } == "[0,-1,… 506 more]")
        #expect(try shown("at", 7, 6) { $0.uint64(UInt64($1)) } == "[0,1,2,… 4 more]")
        #expect(try shown("ad", 7, 6) { $0.double(Double($1)) } == "[0.0,1.0,2.0,… 4 more]")
        #expect(try shown("ad", 6, 6) { $0.double(Double($1)) } == "[0.0,1.0,2.0,3.0,4.0,5.0]")
        #expect(try shown("ab", 7, 6) { $0.bool($1 > 5) } == "[false,false,false,false,false,false,true]")
    }

    @Test("a variant is its value, whatever it holds")
    func variants() throws {
        #expect(
            try printed("v") {
                $0.signature(try Signature("s"))
                try $0.string("x")
            } == #""x""#)
        #expect(
            try printed("av") { writer in
                let mark = writer.beginArray(elementAlignment: 1)
                writer.signature(try Signature("v"))
                writer.signature(try Signature("(ib)"))
                writer.align(8)
                writer.int32(1)
                writer.bool(false)
                try writer.endArray(mark)
            } == "[[1,false]]")
    }

    @Test("variants within variants end at D-Bus's depth")
    func nestedVariants() throws {
        func nested(_ depth: Int) throws -> [UInt8] {
            try Samples.body { writer in
                for _ in 0..<depth { writer.signature(try Signature("v")) }
                writer.signature(try Signature("y"))
                writer.byte(1)
            }
        }
        #expect(try printed(.variant, try nested(20)) == "1")
        #expect(throws: WireFault.self) { try printed(.variant, try nested(100)) }
        #expect(throws: WireFault.self) { try printed(.variant, try nested(100_000)) }
    }

    @Test("random values: valid JSON, every digit right, and the same bytes when typed in again")
    func randomRoundTrip() throws {
        let seed: UInt64 = 20_261_120
        var random = RandomValue(generator: SeededGenerator(seed: seed))
        for round in 0..<TestForm.rounds(3_000, soak: 20_000) {
            let shape = Shape.structure([
                .init(name: "first", shape: .basic(.byte)), .init(name: "value", shape: random.shape(depth: 4)),
            ])
            var writer = WireWriter()
            let expected = try random.write(shape, to: &writer)
            let json = try printed(shape, writer.bytes)
            #expect(try JSONParser.parse(json) == expected, "seed \(seed), round \(round): \(shape.text)")
            if round % 10 == 0 {
                #expect(throws: Never.self, "seed \(seed), round \(round)") {
                    try JSONSerialization.jsonObject(with: Data(json.utf8))
                }
            }
            let command = IntrospectedCommand(name: "C", arguments: [IntrospectedField(name: "v", shape: shape)])
            let bytes = try ArgumentEncoder.body(of: command, from: [.init(key: "v", value: json)])
            #expect(bytes == writer.bytes, "seed \(seed), round \(round): \(shape.text) \(json)")
        }
    }

    @Test("mutated bodies: text or a typed fault")
    func mutated() throws {
        let seed: UInt64 = 7
        var random = RandomValue(generator: SeededGenerator(seed: seed))
        var faults = 0
        let rounds = TestForm.rounds(200, soak: 2_000)
        for _ in 0..<rounds {
            let shape = Shape.structure([
                .init(name: "a", shape: random.shape(depth: 3)), .init(name: "b", shape: random.shape(depth: 4)),
                .init(name: "c", shape: .array(.variant)),
            ])
            var writer = WireWriter()
            _ = try random.write(shape, to: &writer)
            let bytes = writer.bytes
            for _ in 0..<50 {
                var mutated = bytes
                let index = Int(random.generator.next() % UInt64(mutated.count))
                mutated[index] = UInt8(truncatingIfNeeded: random.generator.next())
                if random.generator.next() % 4 == 0 { mutated.removeLast(index) }
                do {
                    let json = try printed(shape, mutated)
                    #expect(throws: Never.self, "seed \(seed): \(shape.text)") { try JSONParser.parse(json) }
                } catch is WireFault { faults += 1 }
            }
        }
        #expect(faults > rounds / 2, "seed \(seed)")
    }
}
