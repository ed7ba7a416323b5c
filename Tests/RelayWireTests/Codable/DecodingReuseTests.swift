import TestTraits
import Testing
import WireSupport

@testable import RelayWire

/// A decoder reads one event after the other, and its containers serve again.
@Suite("Decoders that serve many values", .tags(.g2, .g8)) struct DecodingReuseTests {
    struct Spot: Codable, Equatable, Sendable { var x: Double, y: Double }
    struct Plain: WireTestEvent, Equatable {
        var number: Int64, small: UInt8, title: String, isOpen: Bool, ratio: Double
        var spot: Spot, other: Spot?, note: String?, tags: [String], spots: [Spot], byName: [String: Int32]
        var kind: Fragility

        static func random(_ random: inout SeededGenerator) -> Plain {
            func spot() -> Spot { Spot(x: Double(random.below(1_000)), y: -0.5) }
            func text() -> String {
                let letters = ["a", "ß", "€", "𝄞", "plain text", "\u{301}"]
                return (0..<random.below(8)).map { _ in letters[random.below(letters.count)] }.joined()
            }
            return Plain(
                number: Int64(bitPattern: random.next()), small: UInt8(random.below(256)), title: text(),
                isOpen: random.chance(2), ratio: Double(random.below(100)) / 7, spot: spot(),
                other: random.chance(2) ? spot() : nil, note: random.chance(2) ? text() : nil,
                tags: (0..<random.below(3)).map { _ in text() }, spots: (0..<random.below(3)).map { _ in spot() },
                byName: ["a": 1, "b" + text(): 2], kind: random.chance(2) ? .sturdy : .fragile)
        }
    }
    private static func body<E: Codable>(_ value: E, _ codec: WireCodec<E>) throws -> [UInt8] {
        var writer = WireWriter()
        try codec.encode(value, into: &writer)
        writer.align(8)
        for number: UInt64 in 1...3 { writer.uint64(number) }
        return writer.bytes
    }
    private static func decoded<E: Codable>(
        _ body: [UInt8], _ codec: WireCodec<E>, by translation: WireTranslation? = nil
    ) -> Result<E, RelayError> { decoded(body, codec.form, by: translation) }

    private static func decoded<E: Codable>(
        _ body: [UInt8], _ form: WireForm, by translation: WireTranslation? = nil
    ) -> Result<E, RelayError> {
        body.withUnsafeBytes { bytes in
            do { return .success(try form.decode(E.self, stamped: bytes, by: translation)) } catch {
                return .failure(error as? RelayError ?? RelayError(.internalFailure, "\(error)"))
            }
        }
    }
    private static func text<E>(_ result: Result<E, RelayError>) -> String {
        switch result {
        case .success(let value): "\(value)"
        case .failure(let error): "\(error)"
        }
    }

    @Test(
        "random events come back as they were; what is broken is refused as by a new decoder, and the next one comes back"
    )
    func random() throws {
        let codec = try WireCodec(event: Plain.self)
        var random = SeededGenerator(seed: 7)
        var mutator = BodyMutator(seed: 7)
        var refused = 0
        for _ in 0..<TestForm.rounds(2_000, soak: 50_000) {
            let event = Plain.random(&random)
            let body = try Self.body(event, codec)
            #expect(try Self.decoded(body, codec).get() == event)
            let broken = mutator.mutated(body)
            let here = Self.decoded(broken, codec)
            let fresh = WireForm(codec.schema, isStructure: true, typeName: codec.form.typeName, plainSize: nil)
            let new: Result<Plain, RelayError> = Self.decoded(broken, fresh)
            // As text: a NaN differs from itself. Dictionaries have no order.
            if case .failure = new {
                refused += 1
                #expect(Self.text(here) == Self.text(new))
            } else if case .success(let value) = here {
                #expect(try Self.body(value, codec).count <= broken.count + 8)
            } else {
                Issue.record("\(Self.text(here)) instead of \(Self.text(new))")
            }
        }
        #expect(refused > TestForm.rounds(200, soak: 5_000), "\(refused) refused")
    }
    @Test("threads that decode at once do not meet") func threads() async throws {
        let codec = try WireCodec(event: Plain.self)
        await withTaskGroup { group in
            for task: UInt64 in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: task)
                    for _ in 0..<500 {
                        let event = Plain.random(&random)
                        guard let body = try? Self.body(event, codec) else {
                            Issue.record("not encoded")
                            return
                        }
                        #expect((try? Self.decoded(body, codec).get()) == event)
                    }
                }
            }
        }
    }

    /// Keeps what it was read with.
    private struct DecoderKeeper: Codable {
        enum CodingKeys: CodingKey { case number }
        let number: Int64
        let container: KeyedDecodingContainer<CodingKeys>?
        let decoder: (any Decoder)?

        init(number: Int64) { (self.number, container, decoder) = (number, nil, nil) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            number = try container.decode(Int64.self, forKey: .number)
            (self.container, self.decoder) = (container, decoder)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(number, forKey: .number)
        }
    }
    @Test("what a type keeps of its decoder reads nothing of later events") func kept() throws {
        var late: [DecoderKeeper] = []
        do {
            let codec = try WireCodec(DecoderKeeper.self)
            for number: Int64 in 1...5 {
                let body = try Self.body(DecoderKeeper(number: number), codec)
                let value = try Self.decoded(body, codec).get()
                #expect(value.number == number)
                late.append(value)
                for old in late {
                    #expect(throws: RelayError.self) { try old.container?.decode(Int64.self, forKey: .number) }
                    #expect(throws: RelayError.self) {
                        try old.decoder?.container(keyedBy: DecoderKeeper.CodingKeys.self)
                    }
                    #expect(throws: RelayError.self) { try old.decoder?.singleValueContainer() }
                    #expect(old.container?.allKeys.isEmpty == true)
                }
            }
        }
        // The codec has gone.
        #expect(throws: RelayError.self) { try late[0].container?.decode(Int64.self, forKey: .number) }
    }

    /// Reads by two types of keys, out of order, one field twice and one not at all.
    private struct Odd: Codable, Equatable {
        enum First: CodingKey { case a, b }
        enum Second: CodingKey { case c, a }
        var c: String, b: UInt16, a: Int64

        init(c: String, b: UInt16, a: Int64) { (self.c, self.b, self.a) = (c, b, a) }
        init(from decoder: any Decoder) throws {
            let second = try decoder.container(keyedBy: Second.self)
            c = try second.decode(String.self, forKey: .c)
            let first = try decoder.container(keyedBy: First.self)
            b = try first.decode(UInt16.self, forKey: .b)
            let once = try first.decode(Int64.self, forKey: .a)
            a = try second.decode(Int64.self, forKey: .a)
            if a != once { throw RelayError(.internalFailure, "\(a) and \(once)") }
        }
        func encode(to encoder: any Encoder) throws {
            var second = encoder.container(keyedBy: Second.self)
            try second.encode(c, forKey: .c)
            var first = encoder.container(keyedBy: First.self)
            try first.encode(b, forKey: .b)
            try first.encode(a, forKey: .a)
        }
    }
    @Test("keys of two types, in any order, find their fields each time") func keys() throws {
        let codec = try WireCodec(Odd.self)
        for number: Int64 in 1...20 {
            let value = Odd(c: "text \(number)", b: UInt16(number), a: -number)
            #expect(try Self.decoded(try Self.body(value, codec), codec).get() == value)
        }
        // A sender with another order, and with a field more.
        let sender = [
            WireField(name: "a", type: .int64), WireField(name: "more", type: .string),
            WireField(name: "b", type: .uint16), WireField(name: "c", type: .string),
        ]
        let translation = try WireTranslation(from: sender, to: codec.schema.fields, .reading, of: "Odd")
        for number: Int64 in 1...20 {
            var writer = WireWriter()
            try DBusValue.encode(
                [
                    .int64(number), .string("more"), .uint16(7), .string("c \(number)"), .uint64(1), .uint64(2),
                    .uint64(3),
                ],
                into: &writer)
            #expect(
                try Self.decoded(writer.bytes, codec, by: translation).get() == Odd(c: "c \(number)", b: 7, a: number))
        }
    }

    struct Even: FixedLayoutEvent {
        typealias Interface = WireTest1
        var value: Double, first: UInt32, second: Int32, last: UInt64
    }
    struct Short: FixedLayoutEvent {
        typealias Interface = WireTest1
        var first: UInt32, second: UInt16, third: UInt16, last: UInt32
    }
    struct Wide: FixedLayoutEvent {
        typealias Interface = WireTest1
        var value: Float, small: Int32
    }
    @Test("events of a fixed layout: their bytes at once are what Codable reads field by field") func fixed() throws {
        try compare(Even.self, isPlain: true)
        try compare(Short.self, isPlain: true)
        try compare(Wide.self, isPlain: false)
    }
    private func compare<E: FixedLayoutEvent>(_ type: E.Type, isPlain: Bool) throws {
        let codec = try WireCodec(event: type)
        #expect((FixedLayout.plainSize(type) != nil) == isPlain)
        var random = SeededGenerator(seed: 3)
        for size in 0..<80 {
            for _ in 0..<20 {
                let body = (0..<size).map { _ in random.chance(3) ? 0 : UInt8(random.below(256)) }
                let here = Self.decoded(body, codec)
                let slow = body.withUnsafeBytes { bytes -> Result<E, RelayError> in
                    do {
                        var reader = WireReader(bytes)
                        let value = try codec.decode(from: &reader)
                        try reader.align(8)
                        _ = try reader.raw(24)
                        try reader.finish()
                        return .success(value)
                    } catch { return .failure(error as? RelayError ?? RelayError(.invalidArgument, "\(error)")) }
                }
                switch (here, slow) {
                case (.success(let a), .success(let b)):
                    #expect(withUnsafeBytes(of: a, { Array($0) }) == withUnsafeBytes(of: b, { Array($0) }))
                case (.failure(let a), .failure(let b)): #expect(a.code == b.code)
                default: Issue.record("\(size): \(Self.text(here)), \(Self.text(slow))")
                }
            }
        }
        // That some are read at all.
        let sound = [UInt8](repeating: 0, count: (MemoryLayout<E>.size + 7) & ~7) + [UInt8](repeating: 0, count: 24)
        if isPlain { #expect(throws: Never.self) { try Self.decoded(sound, codec).get() } }
    }

    @Test("text is taken where Swift takes it, but for a NUL") func text() {
        var random = SeededGenerator(seed: 5)
        let parts: [[UInt8]] = [
            Array("a".utf8), Array("plain text".utf8), Array("ü".utf8), Array("€".utf8), Array("𝄞".utf8), [0], [0x80],
            [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xFF],
        ]
        var (taken, refused) = (0, 0)
        for _ in 0..<TestForm.rounds(5_000, soak: 100_000) {
            let isSound = random.chance(2)
            let bytes = (0..<random.below(12)).flatMap { _ in parts[random.below(isSound ? 5 : parts.count)] }
            var writer = WireWriter()
            writer.uint32(UInt32(bytes.count))
            writer.append(bytes + [0])
            let expected = bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
            let found = writer.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try? reader.string()
            }
            #expect(found == expected && found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
            if found == nil { refused += 1 } else { taken += 1 }
        }
        #expect(taken > 100 && refused > 100)
    }
}
