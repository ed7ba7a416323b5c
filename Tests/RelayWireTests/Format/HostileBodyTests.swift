import CDBus
import TestTraits
import Testing
import WireSupport

@testable import RelayWire

@Suite("Hostile bodies", .computing, .tags(.g8)) struct HostileBodyTests {
    /// libdbus's verdict on a body, behind a header of ours.
    private struct LibDBusVerdict {
        let template: MessageTemplate
        var writer = WireWriter()

        init(_ signature: Signature) throws {
            template = try MessageTemplate(path: "/", interface: "a.b", member: "C", signature: signature)
        }
        mutating func accepts(_ body: [UInt8]) throws -> Bool {
            template.begin(&writer)
            writer.append(body)
            try template.finish(&writer, serial: 1)
            return writer.withUnsafeBytes { LibDBusMessage.demarshalled($0) != nil }
        }
    }

    @Test("mutations: DBusValue accepts what libdbus accepts, and throws a typed error otherwise")
    func values() throws {
        var (accepted, refused) = (0, 0)
        for seed: UInt64 in 0..<UInt64(TestForm.rounds(100, soak: 600)) {
            var generator = Generator(seed: seed)
            let signature = generator.signature(depth: 3)
            var writer = WireWriter()
            try DBusValue.encode(generator.values(signature.types), into: &writer)
            let original = writer.bytes
            var (mutator, oracle) = (BodyMutator(seed: seed), try LibDBusVerdict(signature))
            for round in 0..<100 {
                let body = mutator.mutated(original)
                let verdict = try oracle.accepts(body)
                do throws(RelayError) {
                    let values = try DBusValue.decode(signature: signature, body: body)
                    accepted += 1
                    #expect(verdict, "seed \(seed), round \(round), \(signature) \(body): we accept")
                    // What was accepted says the same again; only NaN differs from itself.
                    writer.removeAll()
                    try DBusValue.encode(values, into: &writer)
                    #expect(writer.bytes == body, "seed \(seed), round \(round), \(signature)")
                } catch {
                    refused += 1
                    #expect(!verdict, "seed \(seed), round \(round), \(signature) \(body): \(error)")
                    #expect(error.code == .invalidArgument && error.cause is WireFault)
                }
            }
        }
        #expect(
            accepted > TestForm.rounds(800, soak: 5_000) && refused > TestForm.rounds(3_000, soak: 20_000),
            "\(accepted) accepted, \(refused) refused")
    }
    @Test("mutations: Codable decoding accepts what libdbus accepts, but for crowded optionals and unfit enums")
    func codables() throws {
        var (accepted, refused) = (0, 0)
        for seed: UInt64 in 0..<UInt64(TestForm.rounds(100, soak: 600)) {
            var generator = Generator(seed: seed)
            let fields = generator.fields(depth: 3)
            let (type, plan) = (WireType.structure(fields), WirePlan(fields))
            let signature = try Signature(fields.map(\.type.signature).joined())
            var writer = WireWriter()
            try DBusValue.encode(generator.values(fields), into: &writer)
            let original = writer.bytes
            var (mutator, oracle) = (BodyMutator(seed: seed), try LibDBusVerdict(signature))
            for round in 0..<100 {
                let body = mutator.mutated(original)
                let isValid = try oracle.accepts(body)
                let found = isValid ? try DBusValue.decode(signature: signature, body: body) : []
                // An unknown case is passed over where nobody reads it.
                let (isUnfit, hasUnknown) = (Self.isUnfit(fields, found), Self.hasUnknown(fields, found))
                do {
                    let value = try DynamicValue.$type.withValue(type) { try decoded(plan, body) }
                    accepted += 1
                    #expect(
                        isValid && !isUnfit && !hasUnknown,
                        "seed \(seed), round \(round), \(fields) \(body): we accept \(value)")
                } catch {
                    refused += 1
                    #expect(
                        !isValid || isUnfit || hasUnknown, "seed \(seed), round \(round), \(fields) \(body): \(error)")
                    let code = (error as? RelayError)?.code
                    #expect(code == .invalidArgument || (!isValid || hasUnknown) && code == .schemaMismatch)
                }
                // Passing over, as for a field that only the sender has, gives the same verdict.
                let isSkipped = body.withUnsafeBytes { bytes in
                    var reader = WireReader(bytes)
                    do throws(WireFault) {
                        for field in plan.fields(of: plan.root) { try reader.skip(field, plan) }
                        try reader.finish()
                        return true
                    } catch { return false }
                }
                #expect(isSkipped == (isValid && !isUnfit), "seed \(seed), round \(round), \(fields) \(body)")
            }
        }
        #expect(
            accepted > TestForm.rounds(800, soak: 5_000) && refused > TestForm.rounds(3_000, soak: 20_000),
            "\(accepted) accepted, \(refused) refused")
    }
    private func decoded(_ plan: WirePlan, _ body: [UInt8]) throws(RelayError) -> DynamicValue {
        let result = body.withUnsafeBytes { bytes in
            Result { () throws(RelayError) in
                var reader = WireReader(bytes)
                let value = try WireDecoder.decode(
                    DynamicValue.self, isStructure: true, CoderPool(plan), from: &reader)
                do throws(WireFault) { try reader.finish() } catch { throw error.relayError("T") }
                return value
            }
        }
        return try result.get()
    }
    private static func isUnfit(_ fields: [WireField], _ values: [DBusValue]) -> Bool {
        any(fields, values) { type, value in
            switch (type, value) {
            case (.optional, .bytes(let bytes)): bytes.count > 1
            case (.optional, .array(_, let values)): values.count > 1
            case (.tagged(let variants), .structure(let parts)):
                variants.contains { variant in
                    guard .string(variant.name) == parts[0], case .variant(let payload) = parts[1] else { return false }
                    return variant.fields.isEmpty
                        ? !payload.type.isInteger : payload.type.description != variant.signature
                }
            default: false
            }
        }
    }
    private static func hasUnknown(_ fields: [WireField], _ values: [DBusValue]) -> Bool {
        any(fields, values) { type, value in
            guard case .tagged(let variants) = type, case .structure(let parts) = value else { return false }
            return !variants.contains { .string($0.name) == parts[0] }
        }
    }
    /// Whether that holds for a value, or for one in it.
    private static func any(
        _ fields: [WireField], _ values: [DBusValue], _ holds: (WireType, DBusValue) -> Bool
    ) -> Bool { zip(fields, values).contains { any($0.type, $1, holds) } }

    private static func any(_ type: WireType, _ value: DBusValue, _ holds: (WireType, DBusValue) -> Bool) -> Bool {
        if holds(type, value) { return true }
        switch (type, value) {
        case (.optional(let inner), .array(_, let values)), (.array(let inner), .array(_, let values)):
            return values.contains { any(inner, $0, holds) }
        case (.dictionary(_, let element), .dictionary(_, let entries)):
            return entries.contains { any(element, $0.value, holds) }
        case (.structure(let fields), .structure(let values)): return any(fields, values, holds)
        case (.tagged(let variants), .structure(let parts)):
            guard let variant = variants.first(where: { .string($0.name) == parts[0] }),
                case .variant(.structure(let values)) = parts[1]
            else { return false }
            // Of another signature: unfit as a whole.
            guard WireType.structure(variant.fields).signature == DBusValue.structure(values).type.description else {
                return false
            }
            return any(variant.fields, values, holds)
        default: return false
        }
    }
    @Test("mutations of an event of real Swift types end in a value or a typed error")
    func realTypes() throws {
        let codec = try WireCodec(TruckLoaded.self)
        var writer = WireWriter()
        try codec.encode(.sample, into: &writer)
        let original = writer.bytes
        var mutator = BodyMutator(seed: 1)
        var refused = 0
        let rounds = TestForm.rounds(4_000, soak: 20_000)
        for round in 0..<rounds {
            let body = mutator.mutated(original)
            do { _ = try body.withUnsafeBytes { try codec.decode($0) } } catch {
                refused += 1
                #expect((error as? RelayError)?.code == .invalidArgument, "round \(round): \(error)")
            }
        }
        #expect(refused > rounds / 2)
    }
    @Test("every truncation of a body is refused") func truncations() throws {
        for seed: UInt64 in 0..<UInt64(TestForm.rounds(50, soak: 200)) {
            var generator = Generator(seed: seed)
            let signature = generator.signature()
            var writer = WireWriter()
            try DBusValue.encode(generator.values(signature.types), into: &writer)
            let body = writer.bytes
            for length in 0..<body.count {
                #expect(throws: RelayError.self, "seed \(seed), length \(length)") {
                    try DBusValue.decode(signature: signature, body: Array(body[..<length]))
                }
            }
        }
    }
    @Test("each fault is named, with its byte")
    func faults() throws {
        let cases: [(String, [UInt8], WireFault)] = [
            ("b", [2, 0, 0, 0], .init(.boolean(2), at: 0)), ("yu", [1, 9, 0, 0, 1, 0, 0, 0], .init(.padding, at: 1)),
            ("u", [1, 0], .init(.truncated(needed: 4, left: 2), at: 0)),
            ("s", [1, 0, 0, 0, 0xFF, 0], .init(.utf8, at: 4)), ("s", [1, 0, 0, 0, 0, 0], .init(.embeddedNUL, at: 4)),
            ("s", [1, 0, 0, 0, 65, 66], .init(.unterminated, at: 5)),
            ("s", [0xFF, 0xFF, 0xFF, 0xFF, 65, 0], .init(.truncated(needed: 1 << 32, left: 2), at: 4)),
            ("o", [1, 0, 0, 0, 65, 0], .init(.objectPath, at: 4)),
            ("ay", [1, 0, 0, 4, 65, 0], .init(.arrayTooLong(1 << 26 + 1), at: 0)),
            ("ay", [0, 0, 0, 4, 65, 0], .init(.truncated(needed: 1 << 26, left: 2), at: 4)),
            ("au", [3, 0, 0, 0, 65, 0, 0, 0], .init(.arrayLength(3), at: 4)),
            ("y", [1, 2], .init(.trailing(1), at: 1)),
            ("v", [2, 121, 121, 0, 1, 1], .init(.signature("a variant holds one type, not 'yy'"), at: 0)),
            ("v", [0, 0], .init(.signature("a variant holds one type, not ''"), at: 0)),
        ]
        for (signature, body, fault) in cases {
            let error = #expect(throws: RelayError.self) {
                try DBusValue.decode(signature: try Signature(signature), body: body)
            }
            #expect(error?.cause as? WireFault == fault, "\(signature) \(body)")
            #expect(error?.message.contains("byte \(fault.offset)") == true)
            var oracle = try LibDBusVerdict(try Signature(signature))
            #expect(try !oracle.accepts(body))
        }
    }
    @Test("every two- and three-byte string is UTF-8 for us exactly when it is for libdbus")
    func utf8() throws {
        var oracle = try LibDBusVerdict(try Signature("s"))
        func check(_ bytes: [UInt8]) throws {
            let body = [UInt8(bytes.count), 0, 0, 0] + bytes + [0]
            let ours = bytes.withUnsafeBytes { UTF8Check.check($0) == .valid }
            #expect(try oracle.accepts(body) == ours, "\(bytes)")
        }
        for first in stride(from: 0, through: 255, by: 1) {
            for second in stride(from: 0, through: 255, by: 3) { try check([UInt8(first), UInt8(second)]) }
        }
        let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
        for first: UInt8 in 0xC0...0xFF {
            for second in edges {
                for third in edges {
                    try check([first, second, third])
                    for fourth in edges { try check([first, second, third, fourth]) }
                }
            }
        }
    }
    @Test("a body that announces much, or nests much in few bytes, is refused before it takes memory")
    func amplification() throws {
        #expect(throws: RelayError.self) {
            try DBusValue.decode(signature: try Signature("a(yyyy)"), body: [0, 0, 0, 4, 0, 0, 0, 0])
        }
        // 30 structures around each byte.
        let nested = "a" + String(repeating: "(", count: 30) + "y" + String(repeating: ")", count: 30)
        func body(_ count: Int) -> [UInt8] {
            let size = UInt32((count - 1) * 8 + 1)
            let length = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * UInt32($0))) }
            return length + [UInt8](repeating: 0, count: 4 + Int(size))
        }
        #expect(try DBusValue.decode(signature: try Signature(nested), body: body(10)).count == 1)
        let error = #expect(throws: RelayError.self) {
            try DBusValue.decode(signature: try Signature(nested), body: body(10_000))
        }
        #expect((error?.cause as? WireFault)?.problem == .containers)
        #expect(try DBusValue.decode(signature: try Signature("a((y)(y))"), body: body(10_000)).count == 1)
        #expect(MemoryLayout<DBusValue>.stride <= 24)
    }
    @Test("a byte array is held as bytes") func byteArrays() throws {
        let bytes = [0, 0, 0x10, 0] + [UInt8](repeating: 7, count: 1 << 20)
        #expect(
            try DBusValue.decode(signature: try Signature("ay"), body: bytes)
                == [.bytes([UInt8](repeating: 7, count: 1 << 20))])
    }
}

extension WirePlan {
    func fields(of node: Int32) -> [Int32] {
        fields[Int(nodes[Int(node)].first)..<Int(nodes[Int(node)].last)].map(\.node)
    }
}
