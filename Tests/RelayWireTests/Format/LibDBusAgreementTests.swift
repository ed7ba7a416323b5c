import CDBus
import TestTraits
import Testing
import WireSupport

@testable import RelayWire

@Suite("Wire format against libdbus", .computing, .tags(.g8)) struct LibDBusAgreementTests {
    private func body(_ values: [DBusValue]) throws -> [UInt8] {
        var writer = WireWriter()
        try DBusValue.encode(values, into: &writer)
        return writer.bytes
    }
    /// Our header and body, as libdbus reads them.
    private func message(_ signature: Signature, _ body: [UInt8]) throws -> LibDBusMessage {
        var writer = WireWriter()
        let template = try MessageTemplate(path: "/", interface: "a.b", member: "C", signature: signature)
        template.begin(&writer)
        writer.append(body)
        try template.finish(&writer, serial: 1)
        return try #require(LibDBusMessage.demarshalled(writer.bytes), "libdbus refuses '\(signature)' \(body)")
    }
    private func compare(_ signature: Signature, _ values: [DBusValue], _ comment: Comment) throws {
        let ours = try body(values)
        let composed = try #require(LibDBusValues.message(values))
        #expect(composed.signature == signature.text, comment)
        #expect(composed.body == ours, comment)
        let read = LibDBusValues.values(of: try message(signature, ours))
        #expect(read == values, comment)
        let back = try DBusValue.decode(signature: signature, body: ours)
        #expect(back == values, comment)
    }

    @Test("random values of random types are the same bytes, and the same values, both ways")
    func randomValues() throws {
        for seed: UInt64 in 0..<UInt64(TestForm.rounds(1_500, soak: 10_000)) {
            var generator = Generator(seed: seed)
            let signature = generator.signature()
            try compare(signature, generator.values(signature.types), "seed \(seed)")
        }
    }
    @Test("random values through Codable are the same bytes, and the same values, both ways")
    func randomCodables() throws {
        for seed: UInt64 in 0..<UInt64(TestForm.rounds(1_500, soak: 10_000)) {
            var generator = Generator(seed: seed)
            let fields = generator.fields()
            let (type, plan) = (WireType.structure(fields), WirePlan(fields))
            let values = try generator.values(fields)
            var writer = WireWriter()
            try WireEncoder.encode(
                DynamicValue(type, .structure(values)), isStructure: true, CoderPool(plan), into: &writer)
            let composed = try #require(LibDBusValues.message(values))
            #expect(composed.body == writer.bytes, "seed \(seed)")
            let read = LibDBusValues.values(
                of: try message(try Signature(fields.map(\.type.signature).joined()), writer.bytes))
            #expect(read == values, "seed \(seed)")
            let back = try DynamicValue.$type.withValue(type) {
                try composed.body.withUnsafeBytes { bytes in
                    var reader = WireReader(bytes)
                    defer { #expect(reader.isAtEnd, "seed \(seed)") }
                    return try WireDecoder.decode(
                        DynamicValue.self, isStructure: true, CoderPool(plan), from: &reader)
                }
            }
            #expect(back.value == .structure(values), "seed \(seed)")
        }
    }
    @Test("every type is aligned as libdbus does it, at every offset")
    func alignment() throws {
        let types = [
            "y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "v", "ay", "ax", "as", "(y)", "a(y)", "a{yx}",
            "aax",
        ]
        for text in types {
            let type = try #require(try Signature(text).types.first)
            for offset in 0..<9 {
                var generator = Generator(seed: UInt64(offset))
                let values = (0..<offset).map { DBusValue.byte(UInt8($0)) } + generator.values([type, .byte, type])
                try compare(try DBusValue.signature(of: values), values, "\(text) at \(offset)")
            }
        }
    }
    @Test("values nested as deeply as D-Bus allows pass, one level more is refused by both")
    func deepest() throws {
        let arrays = String(repeating: "a", count: 32)
        let opened = String(repeating: "(", count: 32), closed = String(repeating: ")", count: 32)
        func nested(_ type: DBusType) -> DBusValue {
            switch type {
            case .array(.byte): .bytes([1])
            case .array(let element): .array(element, [nested(element)])
            case .structure(let fields): .structure(fields.map(nested))
            default: .byte(1)
            }
        }
        for text in [arrays + "y", opened + "y" + closed, arrays + opened + "y" + closed] {
            let signature = try Signature(text)
            try compare(signature, signature.types.map(nested), "\(text)")
        }
        for text in ["a" + arrays + "y", "(" + opened + "y" + closed + ")"] {
            #expect(throws: RelayError.self) { try Signature(text) }
            #expect(dbus_signature_validate(text, nil) == 0)
        }
    }
    @Test("64 variants within each other pass, one more is refused by both")
    func nestedVariants() throws {
        for (count, isAccepted) in [(64, true), (65, false)] {
            var bytes: [UInt8] = []
            for level in 1...count {
                bytes += level == count ? [1, UInt8(ascii: "y"), 0, 7] : [1, UInt8(ascii: "v"), 0]
            }
            var writer = WireWriter()
            let template = try MessageTemplate(path: "/", interface: "a.b", member: "C", signature: try Signature("v"))
            template.begin(&writer)
            writer.append(bytes)
            try template.finish(&writer, serial: 1)
            #expect((LibDBusMessage.demarshalled(writer.bytes) != nil) == isAccepted)
            let ours = try? DBusValue.decode(signature: try Signature("v"), body: bytes)
            #expect((ours != nil) == isAccepted)
        }
    }
    @Test("empty arrays of every type keep their padding")
    func emptyArrays() throws {
        for element in ["y", "n", "i", "x", "d", "s", "(x)", "{sv}", "ax", "v"] {
            let signature = try Signature("ya\(element)ya\(element)")
            let values: [DBusValue] = signature.types.map { type in
                switch type {
                case .array(.byte): .bytes([])
                case .array(let element): .array(element, [])
                case .dictionary: .dictionary(type, [])
                default: .byte(1)
                }
            }
            try compare(signature, values, "\(element)")
        }
    }
}
