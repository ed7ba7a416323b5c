import Foundation
import TestTraits
import Testing

@testable import RelayWire

@Suite("Arrays of fixed length", .computing) struct FixedArrayTests {
    @Test("an array is made of exactly as many elements as its type has") func making() throws {
        #expect(FixedArray<3, UInt8>(repeating: 4).elementsEqual([4, 4, 4]))
        #expect(FixedArray<3, Int> { $0 * $0 }.elementsEqual([0, 1, 4]))
        #expect(FixedArray<2, Double>([1.5, -2]).elementsEqual([1.5, -2]))
        #expect(try FixedArray<3, Int32>(copying: [7, 8, 9]).elementsEqual([7, 8, 9]))
        #expect(try FixedArray<3, Int32>(copying: Set([7, 8, 9])).sorted() == [7, 8, 9])
        for (elements, found) in [([], "0"), ([1, 2], "2"), ([1, 2, 3, 4], "more")] as [([Int], String)] {
            let error = #expect(throws: RelayError.self) { try FixedArray<3, Int>(copying: elements) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message == "\(found) elements for a FixedArray<3, Int>, which has 3")
        }
        struct Stopped: Error, Equatable {}
        #expect(throws: Stopped()) {
            _ = try FixedArray<3, Int> { index throws(Stopped) in if index == 1 { throw Stopped() } else { index } }
        }
    }
    @Test("it is a collection, compares as its numbers do, and reads as an array does") func collection() {
        var array = FixedArray<4, Double>(repeating: 1)
        #expect(array.count == 4 && FixedArray<4, Double>.count == 4 && array.indices == 0..<4)
        array[2] = 5
        array[0] += 1
        #expect(Array(array) == [2, 1, 5, 1])
        #expect(array.elements.span[2] == 5)
        var span = array.elements.mutableSpan
        span[3] = 9
        array.sort()
        #expect("\(array)" == "[1.0, 2.0, 5.0, 9.0]")
        #expect(array.reversed() == [9, 5, 2, 1] && array[1...2].reduce(0, +) == 7 && array.firstIndex(of: 5) == 2)
        #expect(MemoryLayout.size(ofValue: array) == 32 && MemoryLayout.stride(ofValue: array) == 32)
        var other = array
        #expect(array == other && Set([array, other]).count == 1)
        other[3] = 9.5
        #expect(array != other && Set([array, other]).count == 2)
        other[3] = .nan
        #expect(other != other)
        #expect(FixedArray<1, Double>(repeating: 0) == FixedArray(repeating: -0.0))
    }

    struct Fixed<let count: Int, T: FixedLayoutNumber>: Codable, Equatable {
        var before: UInt8 = 1
        var samples: FixedArray<count, T>
        var after: UInt8 = 2
    }
    struct Ordinary<T: Codable & Equatable>: Codable, Equatable {
        var before: UInt8 = 1
        var samples: [T]
        var after: UInt8 = 2
    }

    private func body<V: Codable>(_ value: V) throws -> [UInt8] {
        var writer = WireWriter()
        try WireCodec(V.self).encode(value, into: &writer)
        return writer.bytes
    }
    private func value<V: Codable>(_ bytes: [UInt8]) throws -> V { try value(V.self, bytes) }
    private func value<V: Codable>(_ type: V.Type, _ bytes: [UInt8]) throws -> V {
        let codec = try WireCodec(V.self)
        return try bytes.withUnsafeBytes { bytes in Result { try codec.decode(bytes) } }.get()
    }
    private func agrees<T: FixedLayoutNumber>(_ elements: [T]) throws {
        let ordinary = Ordinary(samples: elements)
        let fixed = Fixed(samples: try FixedArray<7, T>(copying: elements))
        let (ofFixed, ofOrdinary) = (try WireCodec(Fixed<7, T>.self), try WireCodec(Ordinary<T>.self))
        #expect(ofFixed.schema == ofOrdinary.schema)
        #expect(
            try WireTranslation(from: ofOrdinary.schema.fields, to: ofFixed.schema.fields, .reading, of: "Any")
                .isIdentity)
        let bytes = try body(fixed)
        #expect(try bytes == body(ordinary), "\(T.self)")
        #expect(try value(bytes) == fixed)
        #expect(try value(bytes) == ordinary)
    }
    @Test("on the wire it is an array: what declares [T] writes and reads the same, for every number") func wire()
        throws
    {
        var random = SeededGenerator(seed: 31)
        func integers<T: FixedLayoutNumber & FixedWidthInteger>(_: T.Type) throws {
            try agrees(
                [0, 1, .max, .min, .max / 3] + [random.next(), random.next()].map { T(truncatingIfNeeded: $0) })
        }
        func floats<T: FixedLayoutNumber & BinaryFloatingPoint>(_: T.Type) throws {
            try agrees([0, -0.0, 1.25, .infinity, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi])
        }
        try integers(Int8.self)
        try integers(Int16.self)
        try integers(Int32.self)
        try integers(Int64.self)
        try integers(Int.self)
        try integers(UInt8.self)
        try integers(UInt16.self)
        try integers(UInt32.self)
        try integers(UInt64.self)
        try integers(UInt.self)
        try floats(Float.self)
        try floats(Double.self)
        let nan = try value(Fixed<2, Float>.self, body(Fixed(samples: FixedArray<2, Float>(repeating: .nan))))
        #expect(nan.samples.allSatisfy { $0.isNaN })
    }

    struct Point: Codable, Equatable {
        var place: FixedArray<3, Float>, tag: UInt16
    }
    struct Wrapped: Codable, Equatable {
        var code: FixedArray<4, UInt8>
        init(_ code: FixedArray<4, UInt8>) { self.code = code }
        init(from decoder: any Decoder) throws { code = try FixedArray(from: decoder) }
        func encode(to encoder: any Encoder) throws { try code.encode(to: encoder) }
    }
    struct Everywhere: Codable, Equatable {
        var maybe: FixedArray<2, Int8>?, maybeNot: FixedArray<2, Int8>?
        var points: [Point], byName: [String: FixedArray<1, Double>], grid: [FixedArray<2, UInt64>]
        var wrapped: Wrapped, maybeWrapped: Wrapped?
    }
    @Test("it can be wherever an array can be") func places() throws {
        let all = Everywhere(
            maybe: FixedArray([-128, 127]), maybeNot: nil,
            points: [Point(place: FixedArray([1, 2, 3]), tag: 4), Point(place: FixedArray([5, 6, 7]), tag: 8)],
            byName: ["a": FixedArray([0.5]), "b": FixedArray([-1])],
            grid: [FixedArray([1, 2]), FixedArray([3, 4]), FixedArray([5, 6])],
            wrapped: Wrapped(FixedArray([1, 2, 3, 4])), maybeWrapped: Wrapped(FixedArray([9, 9, 9, 9])))
        #expect(try WireCodec(Everywhere.self).schema.signature == "aanaana(adq)a{sad}aatayaay")
        #expect(try value(body(all)) == all)
        let alone = FixedArray<3, UInt32>([1, 2, 3])
        #expect(try WireCodec(FixedArray<3, UInt32>.self).schema.fields.map(\.description) == ["value:au"])
        #expect(try value(body(alone)) == alone)
    }

    @Test("an array of another length is an error that names the field", arguments: [0, 1, 6, 8, 1_000])
    func otherLength(count: Int) throws {
        let bytes = try body(Ordinary(samples: [UInt64](repeating: 3, count: count)))
        let error = #expect(throws: RelayError.self) { try value(Fixed<7, UInt64>.self, bytes) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.hasSuffix(".samples cannot be read: \(count) elements came, 7 are declared") == true)
        let signed = try body(Ordinary(samples: [Int8](repeating: 3, count: count)))
        #expect(throws: RelayError.self) { try value(Fixed<7, Int8>.self, signed) }
        struct Holder: Codable { var wrapped: Wrapped }
        struct Loose: Codable { var wrapped: [UInt8] }
        let loose = try body(Loose(wrapped: [UInt8](repeating: 1, count: count)))
        #expect(throws: RelayError.self) { try value(Holder.self, loose) }
    }
    @Test("a number that the element cannot have is refused") func otherNumber() throws {
        let bytes = try body(Ordinary(samples: [Int16](arrayLiteral: 1, 2, -129)))
        let error = #expect(throws: RelayError.self) { try value(Fixed<3, Int8>.self, bytes) }
        #expect(error?.message.contains(".samples cannot be read: -129 is no Int8") == true)
        // As with a single number, rounding is none of its business.
        let fine = try body(Ordinary(samples: [0.1, 1e300]))
        #expect(try value(Fixed<2, Float>.self, fine).samples.elementsEqual([0.1, .infinity]))
    }
    @Test("damaged bodies end in values or errors") func hostile() throws {
        let sound = try body(Fixed(samples: FixedArray<5, UInt64> { UInt64($0) }))
        let narrow = try body(Fixed(samples: FixedArray<5, Int8> { Int8($0) }))
        func attempt(_ bytes: [UInt8]) -> Int {
            (try? value(Fixed<5, UInt64>.self, bytes)) != nil || (try? value(Fixed<5, Int8>.self, bytes)) != nil ? 1 : 0
        }
        for body in [sound, narrow] {
            for length in body.indices { #expect(attempt(Array(body[..<length])) == 0) }
        }
        var (random, read) = (SeededGenerator(seed: 5), 0)
        let rounds = TestForm.rounds(4_000, soak: 20_000)
        for round in 0..<rounds {
            var bytes = round % 2 == 0 ? sound : narrow
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = [0, 1, 5, 8, 9, 40, 41, 255][random.below(8)]
            }
            read += attempt(bytes)
        }
        #expect(read > rounds / 20 && read < rounds * 19 / 20)
    }

    /// Writes what nobody who reads it expects.
    struct Odd: Codable {
        enum Form: Int32, Codable, CaseIterable { case well, twice, container, retyped, longer }
        struct Part: Codable {
            var form: Form
            init(_ form: Form) { self.form = form }
            init(from decoder: any Decoder) throws {
                _ = try FixedArray<2, UInt32>(from: decoder)
                form = .well
            }
            func encode(to encoder: any Encoder) throws {
                if form == .retyped { return try FixedArray<2, Int32>(repeating: 1).encode(to: encoder) }
                if form == .longer { return try FixedArray<3, UInt32>(repeating: 1).encode(to: encoder) }
                try FixedArray<2, UInt32>(repeating: 1).encode(to: encoder)
                if form == .twice { try FixedArray<2, UInt32>(repeating: 1).encode(to: encoder) }
                if form == .container {
                    var container = encoder.unkeyedContainer()
                    try container.encode(UInt32(1))
                }
            }
        }
        var part: Part, number: UInt8 = 0
    }
    @Test("a type that goes on behind its array is refused", arguments: Odd.Form.allCases) func odd(_ form: Odd.Form)
        throws
    {
        let value = Odd(part: Odd.Part(form))
        if form == .well || form == .longer {
            // What a reader of its own makes of the longer one is that reader's; no other length is known here.
            #expect(throws: Never.self) { try body(value) }
        } else {
            let error = #expect(throws: RelayError.self) { try body(value) }
            #expect(error?.code == .invalidArgument && error?.message.contains("Odd.part") == true)
        }
    }
    @Test("a reader that goes on behind its array is refused when it is registered") func greedy() {
        struct ReadsPastItsArray: Codable {
            struct Part: Codable {
                init(from decoder: any Decoder) throws {
                    _ = try FixedArray<2, UInt32>(from: decoder)
                    _ = try FixedArray<2, UInt32>(from: decoder)
                }
                func encode(to encoder: any Encoder) throws {
                    try FixedArray<2, UInt32>(repeating: 0).encode(to: encoder)
                }
            }
            var part: Part
        }
        #expect(throws: RelayError.self) { try WireCodec(ReadsPastItsArray.self) }
    }

    @Test("in JSON it is an array, too") func json() throws {
        let fixed = Fixed(samples: FixedArray<3, Int16>([1, -2, 3]))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = try encoder.encode(fixed)
        #expect(String(decoding: text, as: UTF8.self) == #"{"after":2,"before":1,"samples":[1,-2,3]}"#)
        #expect(try JSONDecoder().decode(Fixed<3, Int16>.self, from: text) == fixed)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Fixed<2, Int16>.self, from: text) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Fixed<4, Int16>.self, from: text) }
    }

    struct Sampled<let count: Int, T: FixedLayoutNumber>: FixedLayoutEvent {
        typealias Interface = WireTest1
        static var name: String { "Sampled" }
        var at: UInt64, samples: FixedArray<count, T>
    }
    struct Nested: FixedLayoutEvent {
        typealias Interface = WireTest1
        struct Part: Codable, BitwiseCopyable { var low: FixedArray<2, UInt16>, high: Float }
        var part: Part, rest: FixedArray<6, UInt8>, mark: Int16
    }
    struct Alone: FixedLayoutEvent {
        typealias Interface = WireTest1
        var bins: FixedArray<32, Float>
        init(from decoder: any Decoder) throws { bins = try FixedArray(from: decoder) }
        func encode(to encoder: any Encoder) throws { try bins.encode(to: encoder) }
    }
    @Test("a fixed layout names kind, size and number of the elements") func layouts() throws {
        #expect(try FixedLayout.check(Sampled<508, UInt64>.self) == "at:u8,samples:u8*508")
        #expect(try FixedLayout.check(Sampled<16, Int8>.self) == "at:u8,samples:i1*16")
        #expect(try FixedLayout.check(Sampled<1, Double>.self) == "at:u8,samples:f8*1")
        #expect(try FixedLayout.check(Nested.self) == "part:(low:u2*2,high:f4),rest:u1*6,mark:i2")
        #expect(try FixedLayout.check(Alone.self) == "value:f4*32")
        #expect(try FixedLayout.check(Sampled<8_191, UInt64>.self) == "at:u8,samples:u8*8191")
        #expect(try WireSchema(event: Sampled<508, UInt64>.self).signature == "tat")
    }

    struct Foreign: FixedLayoutNumber {
        static var _seal: FixedLayoutSeal { sealed }
        var a: UInt8 = 0, b: UInt8 = 0
    }
    struct Coded<let count: Int, T: FixedLayoutNumber>: WireTestEvent {
        static var name: String { "Coded" }
        var samples: [FixedArray<count, T>]
    }
    static let refusals: [(any DomainEvent.Type, String, String)] = [
        (Sampled<3, UInt8>.self, "", "padding"), (Sampled<511, Float>.self, "", "padding"),
        (Sampled<0, UInt8>.self, "samples", "has no elements"), (Coded<0, Int>.self, "samples[]", "has no elements"),
        (Sampled<65_537, UInt8>.self, "samples", "more than 65536 bytes"),
        (Sampled<8_192, Int>.self, "", "65536 bytes"),
        (Coded<8_193, Double>.self, "samples[]", "send an ordinary array"),
        (Sampled<4, Foreign>.self, "samples", "Foreign is no number"),
        (Coded<4, Foreign>.self, "samples[]", "Foreign is no number"),
    ]
    @Test("what has no fixed layout is refused by type, field and reason", arguments: refusals.indices)
    func refused(_ index: Int) throws {
        func check<E: DomainEvent>(_ type: E.Type, _ field: String, _ reason: String) throws {
            let error = try #require(throws: RelayError.self) { try WireSchema(event: type) }
            #expect(error.code == .unsupportedType)
            let refusal = try #require(error.cause as? SchemaRefusal)
            #expect(refusal.field == field && refusal.reason.contains(reason), "\(refusal)")
        }
        let (type, field, reason) = Self.refusals[index]
        try check(type, field, reason)
    }
    @Test("an ordinary array in a fixed layout is refused with the advice to fix its length") func advice() throws {
        // It cannot be a field of one; what a type decodes by hand can.
        struct Handmade: FixedLayoutEvent {
            typealias Interface = WireTest1
            var first: UInt64
            enum CodingKeys: CodingKey { case all }
            init(from decoder: any Decoder) throws {
                first = try decoder.container(keyedBy: CodingKeys.self).decode([UInt64].self, forKey: .all).first ?? 0
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode([first], forKey: .all)
            }
        }
        let error = #expect(throws: RelayError.self) { try WireSchema(event: Handmade.self) }
        #expect(error?.message.contains("use FixedArray") == true)
    }
}
