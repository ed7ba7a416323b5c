import TestTraits
import Testing

@testable import RelayWire

@Suite("Fixed layouts without their type", .computing, .tags(.g8)) struct FixedLayoutTranscoderTests {
    typealias Part = Codable & BitwiseCopyable & Sendable

    struct Pair<A: Part, B: Part>: Part { var a: A, b: B }
    struct Triple<A: Part, B: Part, C: Part>: Part { var x: A, y: B, z: C }
    struct Mark<A: Part>: Part {
        var raw: A
        init(from decoder: any Decoder) throws { raw = try decoder.singleValueContainer().decode(A.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(raw)
        }
    }
    struct Made<A: Part, B: Part, C: Part, D: Part>: FixedLayoutEvent {
        typealias Interface = WireTest1
        static var name: String { "Made" }
        var first: A, second: B, third: C, fourth: D
    }
    struct Alone<A: Part>: FixedLayoutEvent {
        typealias Interface = WireTest1
        static var name: String { "Alone" }
        var raw: A
        init(from decoder: any Decoder) throws { raw = try decoder.singleValueContainer().decode(A.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(raw)
        }
    }

    static let numbers: [any Part.Type] = [
        Int8.self, Int16.self, Int32.self, Int64.self, Int.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
        UInt.self, Float.self, Double.self,
    ]
    static let arrays: [any Part.Type] = [
        FixedArray<4, Int8>.self, FixedArray<2, Int16>.self, FixedArray<3, Int32>.self, FixedArray<1, Int64>.self,
        FixedArray<8, UInt8>.self, FixedArray<4, UInt16>.self, FixedArray<2, UInt32>.self, FixedArray<5, UInt64>.self,
        FixedArray<2, Float>.self, FixedArray<3, Double>.self, FixedArray<40, Int>.self, FixedArray<64, UInt8>.self,
    ]
    static func part(_ random: inout SeededGenerator, depth: Int) -> any Part.Type {
        func pair<A: Part, B: Part>(_: A.Type, _: B.Type) -> any Part.Type { Pair<A, B>.self }
        func triple<A: Part, B: Part, C: Part>(_: A.Type, _: B.Type, _: C.Type) -> any Part.Type {
            Triple<A, B, C>.self
        }
        func mark<A: Part>(_: A.Type) -> any Part.Type { Mark<A>.self }
        if random.chance(4) { return arrays[random.below(arrays.count)] }
        if depth == 0 || random.chance(2) { return numbers[random.below(numbers.count)] }
        let (a, b, c) = (
            part(&random, depth: depth - 1), part(&random, depth: depth - 1), part(&random, depth: depth - 1)
        )
        return switch random.below(4) {
        case 0: mark(a)
        case 1: triple(a, b, c)
        default: pair(a, b)
        }
    }
    static func event(_ random: inout SeededGenerator) -> any FixedLayoutEvent.Type {
        func alone<A: Part>(_: A.Type) -> any FixedLayoutEvent.Type { Alone<A>.self }
        func made<A: Part, B: Part, C: Part, D: Part>(_: A.Type, _: B.Type, _: C.Type, _: D.Type)
            -> any FixedLayoutEvent.Type
        { Made<A, B, C, D>.self }
        let parts = (0..<4).map { _ in part(&random, depth: 2) }
        return random.chance(8) ? alone(parts[0]) : made(parts[0], parts[1], parts[2], parts[3])
    }

    /// False for a type with padding.
    static func agrees<E: FixedLayoutEvent>(_ type: E.Type, _ random: inout SeededGenerator) throws -> Bool {
        guard MemoryLayout<E>.size == MemoryLayout<E>.stride, let codec = try? WireCodec(event: type) else {
            return false
        }
        let layout = try FixedLayout.check(type)
        let transcoder = try FixedLayoutTranscoder(layout: layout, size: MemoryLayout<E>.size)
        #expect(transcoder.fields == codec.schema.fields, "\(layout)")
        for _ in 0..<4 {
            let bytes = (0..<MemoryLayout<E>.size).map { _ in
                random.chance(4) ? [0, 0x7F, 0x80, 0xFF][random.below(4)] : UInt8(truncatingIfNeeded: random.next())
            }
            let value = bytes.withUnsafeBytes { $0.loadUnaligned(as: E.self) }
            var (fromType, fromBytes) = (WireWriter(), WireWriter())
            try codec.encode(value, into: &fromType)
            try bytes.withUnsafeBytes { try transcoder.transcode($0, into: &fromBytes) }
            #expect(fromBytes.bytes == fromType.bytes, "\(layout): \(bytes)")
        }
        return true
    }
    @Test("bytes and layout give what the type writes, for hundreds of types") func agreement() throws {
        var (random, accepted) = (SeededGenerator(seed: 4), 0)
        let types = TestForm.rounds(120, soak: 600)
        for _ in 0..<20_000 where accepted < types {
            if try Self.agrees(Self.event(&random), &random) { accepted += 1 }
        }
        #expect(accepted == types)
    }
    @Test("a layout names fields, kinds and sizes, structures and all") func text() throws {
        #expect(
            try FixedLayout.check(Made<Double, Pair<Float, Int32>, Mark<UInt32>, Pair<Int16, UInt16>>.self)
                == "first:f8,second:(a:f4,b:i4),third:u4,fourth:(a:i2,b:u2)")
        #expect(try FixedLayout.check(Alone<UInt8>.self) == "value:u1")
        #expect(try FixedLayout.check(Alone<Pair<Int, UInt>>.self) == "a:i8,b:u8")
    }

    struct Shifted: FixedLayoutEvent {
        typealias Interface = WireTest1
        var load: Int64
        enum CodingKeys: CodingKey { case load }
        init(from decoder: any Decoder) throws {
            load = try decoder.container(keyedBy: CodingKeys.self).decode(Int64.self, forKey: .load)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(load &+ 1, forKey: .load)
        }
    }
    struct Twofold: FixedLayoutEvent {
        typealias Interface = WireTest1
        var load: Int64
        enum CodingKeys: CodingKey { case load }
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: CodingKeys.self)
            load = try decoder.singleValueContainer().decode(Int64.self)
        }
    }
    @Test("a type that writes other numbers than it has in memory is refused") func asymmetric() throws {
        let error = #expect(throws: RelayError.self) { try WireSchema(event: Shifted.self) }
        #expect(error?.message.contains("in memory") == true)
        #expect(throws: RelayError.self) { try FixedLayout.check(Twofold.self) }
    }

    struct Crossed: FixedLayoutEvent {
        typealias Interface = WireTest1
        var a: Int64, b: Int64, c: Int64, d: Int64, e: Int64
        enum CodingKeys: CodingKey { case e, b, c, d, a }
    }
    struct CrossedArrays: FixedLayoutEvent {
        typealias Interface = WireTest1
        var a: FixedArray<4, UInt8>, b: FixedArray<4, UInt8>
        enum CodingKeys: CodingKey { case b, a }
    }
    struct CrossedKinds: FixedLayoutEvent {
        typealias Interface = WireTest1
        var a: Float, b: UInt8, c: UInt8, d: UInt8, e: UInt8
        enum CodingKeys: CodingKey { case a, e, d, c, b }
    }
    @Test("fields that lie in each other's place are refused, however far apart") func crossed() throws {
        for type: any FixedLayoutEvent.Type in [Crossed.self, CrossedArrays.self, CrossedKinds.self] {
            func check<E: FixedLayoutEvent>(_ type: E.Type) {
                let error = #expect(throws: RelayError.self) { try FixedLayout.check(type) }
                #expect(error?.message.contains("not its coded fields in order") == true, "\(type)")
            }
            check(type)
        }
    }

    @Test(
        "text that is no layout is InvalidArgument",
        arguments: [
            "", "a", "a:", ":i4", "a:i", "a:i3", "a:f2", "a:i16", "a:b1", "a:x8", "a:I4", "a:i4,", ",a:i4", "a:i4,a:i4",
            "a:i4 ", " a:i4", "a:i4;b:i4", "a:()", "a:(b:i4", "a:(b:i4))", "a:(b:i4,)", "a:(b:i4,b:u4)", "ä:i4", "1:i4",
            "a b:i4", "a:i4\0", "a:\u{131}4", "a:i4*", "a:i4*0", "a:i4*00", "a:i4*07", "a:i4*-1", "a:i4*+1", "a:i4*1e3",
            "a:i4* 4", "a:i4*4 ", "a:i4*4*4", "a:*4", "a:(b:i4)*4", "a:i4*٤", "a:i4*9223372036854775808",
            "a:i4*99999999999999999999999999", "a:u1*67108865", "a:i1*33554433", "a:f4*8388609", "a:f8*8388609",
            "a:i4*" + String(repeating: "0", count: 60_000), "a:i4*" + String(repeating: "9", count: 65_530),
            String(repeating: "a", count: 256) + ":i4",
        ])
    func hostile(_ text: String) {
        let error = #expect(throws: RelayError.self) { try FixedLayoutTranscoder(layout: text) }
        #expect(error?.code == .invalidArgument)
    }
    @Test("depth, length and number of fields are bounded") func bounded() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "s:(", count: levels) + "a:u1" + String(repeating: ")", count: levels)
        }
        func wide(_ count: Int) -> String { (0..<count).map { "f\($0):u1" }.joined(separator: ",") }
        #expect(try FixedLayoutTranscoder(layout: nested(32)).size == 1)
        #expect(try FixedLayoutTranscoder(layout: wide(255)).size == 255)
        // As much as D-Bus allows for an array, and for a message.
        #expect(try FixedLayoutTranscoder(layout: "a:u1*67108864").size == 1 << 26)
        #expect(try FixedLayoutTranscoder(layout: "a:u1*67108864,b:i1*33554432").size == 3 << 25)
        #expect(throws: RelayError.self) { try FixedLayoutTranscoder(layout: "a:u1*67108864,b:u8*8388608,c:u1") }
        // Each allowed, and together more than any sum of them may be.
        let heavy = (0..<4_000).map { "f\($0):u8*8388608" }.joined(separator: ",")
        #expect(throws: RelayError.self) { try FixedLayoutTranscoder(layout: heavy, size: 1 << 36) }
        for text in [
            nested(33), nested(100_000), wide(256), wide(100_000), String(repeating: "a", count: 1_000_000),
            String(repeating: "a:(", count: 20_000),
        ] {
            #expect(throws: RelayError.self) { try FixedLayoutTranscoder(layout: text) }
        }
    }
    @Test("bytes of another size are refused, and leave the writer as it was") func sizes() throws {
        #expect(throws: RelayError.self) { try FixedLayoutTranscoder(layout: "a:f8,b:u1", size: 16) }
        #expect(throws: RelayError.self) { try FixedLayoutTranscoder(layout: "a:u8*508", size: 4_056) }
        let array = try FixedLayoutTranscoder(layout: "a:u8*508", size: 4_064)
        for count in [0, 4_063, 4_065] {
            var writer = WireWriter()
            #expect(throws: RelayError.self) {
                try [UInt8](repeating: 1, count: count).withUnsafeBytes { try array.transcode($0, into: &writer) }
            }
            #expect(writer.count == 0)
        }
        let transcoder = try FixedLayoutTranscoder(layout: "a:f8,b:u1", size: 9)
        var writer = WireWriter()
        writer.byte(7)
        for count in [0, 8, 10] {
            #expect(throws: RelayError.self) {
                try [UInt8](repeating: 1, count: count).withUnsafeBytes {
                    try transcoder.transcode($0, into: &writer)
                }
            }
        }
        #expect(throws: RelayError.self) {
            try transcoder.transcode(UnsafeRawBufferPointer(start: nil, count: 0), into: &writer)
        }
        #expect(writer.bytes == [7])
    }
    @Test("50,000 mutated layouts are read or refused, and what is read can be transcoded") func mutations() throws {
        let alphabet = Array("iuf1248():,_x9* \u{0}ä".utf8)
        var (random, read) = (SeededGenerator(seed: 12), 0)
        let base = Array("user:f8,place:(x:i4,y:i4*3,deep:(z:u1*16)),load:f4*2,cpu:u4,id:i1*12".utf8)
        let bytes = [UInt8](repeating: 0xA5, count: 1 << 16)
        let rounds = TestForm.rounds(8_000, soak: 50_000)
        for _ in 0..<rounds {
            var text = base
            for _ in 0...random.below(3) {
                let at = random.below(text.count)
                switch random.below(3) {
                case 0: text[at] = alphabet[random.below(alphabet.count)]
                case 1: text.remove(at: at)
                default: text.insert(alphabet[random.below(alphabet.count)], at: at)
                }
            }
            guard let transcoder = try? FixedLayoutTranscoder(layout: String(decoding: text, as: UTF8.self)) else {
                continue
            }
            read += 1
            #expect(transcoder.fields.map(\.type.signature).joined().utf8.count <= 255)
            guard transcoder.size <= bytes.count else { continue }  // An array that grew by some digits.
            var writer = WireWriter()
            try bytes[..<transcoder.size].withUnsafeBytes { try transcoder.transcode($0, into: &writer) }
            // What came out has the shape that the fields tell.
            try writer.withUnsafeBytes { body in
                var reader = WireReader(body)
                for field in transcoder.fields { try reader.skip(field.type.dbus) }
                try reader.finish()
            }
        }
        #expect(read > rounds / 10)
    }
}
