import Foundation
import Testing

@testable import RelayWire

@Suite("Codable to and from D-Bus") struct WireCodecTests {
    private func encoded<T: Codable>(_ value: T) throws -> [UInt8] {
        var writer = WireWriter()
        try WireCodec(T.self).encode(value, into: &writer)
        return writer.bytes
    }
    private func decoded<T: Codable>(_ type: T.Type, _ bytes: [UInt8]) throws -> T {
        let codec = try WireCodec(type)
        return try bytes.withUnsafeBytes { try codec.decode($0) }
    }
    private func values<T: Codable>(_ value: T) throws -> [DBusValue] {
        try DBusValue.decode(signature: try Signature(try WireCodec(T.self).schema.signature), body: try encoded(value))
    }
    private func expectThere<T: Codable & Equatable>(_ value: T) throws {
        #expect(try decoded(T.self, try encoded(value)) == value)
    }

    @Test("every row of the table has its D-Bus type and value") func table() throws {
        #expect(
            try WireCodec(AllTypes.self).schema.signature
                == "bynnqiuxxttddssayasaianaada{si}a{xs}a{qb}a{sy}(ddad)(ii)axaxa(ddad)aaynana{san}ay")
        let values = try values(AllTypes.sample)
        let dimensions = try Signature("(ddad)").types[0]
        #expect(
            values == [
                .boolean(true), .byte(255), .int16(-128), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
                .int64(.min), .int64(.max), .uint64(.max), .uint64(7), .double(0.5), .double(-.infinity),
                .string("Kitchen"), .string("01020304-0506-0708-090A-0B0C0D0E0F10"), .bytes([1, 2]),
                .array(.string, [.string(""), .string("a")]), .array(.int32, [.int32(1), .int32(-1)]),
                .array(.int16, [.int16(5)]),
                .array(
                    .array(.double),
                    [.array(.double, [.double(1)]), .array(.double, []), .array(.double, [.double(2)])]),
                .dictionary(.dictionary(.string, .int32), [.init(key: .string("k"), value: .int32(1))]),
                .dictionary(.dictionary(.int64, .string), [.init(key: .int64(-3), value: .string("x"))]),
                .dictionary(.dictionary(.uint16, .boolean), [.init(key: .uint16(9), value: .boolean(false))]),
                .dictionary(.dictionary(.string, .byte), [.init(key: .string("fragile"), value: .byte(1))]),
                .structure([.double(1), .double(2), .array(.double, [])]), .structure([.int32(-1), .int32(4)]),
                .array(.int64, [.int64(4)]), .array(.int64, []),
                .array(dimensions, [.structure([.double(3), .double(4), .array(.double, [.double(5)])])]),
                .array(.array(.byte), [.bytes([8])]), .int16(1), .array(.int16, [.int16(-1)]), values[32],
                .bytes([3, 4]),
            ])
        guard case .dictionary(let type, let entries) = values[32] else {
            Issue.record("\(values[32])")
            return
        }
        #expect("\(type)" == "a{san}")
        #expect(
            Set(entries) == [
                .init(key: .string("a"), value: .array(.int16, [.int16(1)])),
                .init(key: .string("b"), value: .array(.int16, [])),
            ])
        try expectThere(AllTypes.sample)
    }
    @Test("a value comes back as it was") func roundTrips() throws {
        try expectThere(TruckLoaded.sample)
        var sparse = TruckLoaded.sample
        (sparse.note, sparse.dimensions, sparse.shelves, sparse.byFloor) = (nil, nil, [], [:])
        try expectThere(sparse)
        try expectThere(Minimal(boxID: -1))
        try expectThere([1, 2, 3])
        try expectThere("a string alone")
        try expectThere(["a": ["b": [1.5]]])
        try expectThere(3..<Int32(5))
        try expectThere(Optional(5))
        try expectThere(Int?.none)
        try expectThere([UInt64.max: Fragility.sturdy])
        try expectThere([Int8(-5): [Int8(7)]])
        try expectThere([true: "yes", false: "no"])
    }
    @Test("a type without fields has an empty body") func empty() throws {
        #expect(try encoded(NoReply()).isEmpty)
        _ = try decoded(NoReply.self, [])
        struct AllNil: Codable, Equatable { var a: Int?, b: String? }
        try expectThere(AllNil())
        #expect(try encoded(AllNil()).count == 12)
    }
    @Test("the fields stand in a message's body, not in a structure, and a stamp can follow") func stamp() throws {
        let codec = try WireCodec(event: Minimal.self)
        var writer = WireWriter()
        try codec.encode(Minimal(boxID: 5), into: &writer)
        for number: UInt64 in [7, 6, 1_000] { writer.uint64(number) }
        let bytes = writer.bytes
        #expect(bytes.count == 32)
        try bytes.withUnsafeBytes { body in
            var reader = WireReader(body)
            #expect(try codec.decode(from: &reader) == Minimal(boxID: 5))
            #expect(try [reader.uint64(), reader.uint64(), reader.uint64()] == [7, 6, 1_000])
            #expect(reader.isAtEnd)
            let whole = try codec.decode(body, trailing: try Signature("ttt"))
            #expect(whole == Minimal(boxID: 5))
            #expect(throws: RelayError.self) { try codec.decode(body) }
            #expect(throws: RelayError.self) {
                try codec.decode(body, trailing: try Signature("tttt"))
            }
        }
    }
    @Test("a body follows a header aligned, whatever the header's length") func behindHeader() throws {
        var writer = WireWriter()
        let template = try MessageTemplate(path: "/", interface: "a.b", member: "C", signature: try Signature("x"))
        template.begin(&writer)
        try WireCodec(Minimal.self).encode(Minimal(boxID: 3), into: &writer)
        #expect(writer.count == template.bodyStart + 8)
    }
    @Test("a string with a NUL is InvalidArgument with its field, and nothing is written") func embeddedNUL() throws {
        var truck = TruckLoaded.sample
        truck.shelves[1].label = "a\0b"
        var writer = WireWriter()
        writer.uint32(9)
        let error = #expect(throws: RelayError.self) { try WireCodec(TruckLoaded.self).encode(truck, into: &writer) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("TruckLoaded.shelves[].label") == true, "\(error?.message ?? "")")
        #expect(writer.bytes == [9, 0, 0, 0])
        truck = .sample
        truck.weights = ["\0": 1]
        #expect(throws: RelayError.self) { try encoded(truck) }
        #expect(throws: RelayError.self) { try encoded(["a", "\0"]) }
    }
    @Test("numbers and cases that the Swift type lacks are InvalidArgument with the field") func ranges() throws {
        struct Small: Codable { var small: Int8 }
        struct Wide: Codable { var small: Int16 }
        struct Cased: Codable { var floor: Floor }
        struct Float1: Codable { var value: Float }
        let error = #expect(throws: RelayError.self) { try decoded(Small.self, try encoded(Wide(small: 128))) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("Small.small") == true, "\(error?.message ?? "")")
        let unknown = #expect(throws: RelayError.self) { try decoded(Cased.self, try encoded(Wide(small: 77))) }
        #expect(unknown?.message.contains("Cased.floor") == true, "\(unknown?.message ?? "")")
        #expect(try decoded(Float1.self, try encoded(1e300)).value == .infinity)
    }
    @Test("two elements in an optional are refused") func crowdedOptional() throws {
        struct Many: Codable { var note: [String] }
        struct One: Codable { var note: String? }
        #expect(try decoded(One.self, try encoded(Many(note: ["a"]))).note == "a")
        #expect(try decoded(One.self, try encoded(Many(note: []))).note == nil)
        #expect(throws: RelayError.self) { try decoded(One.self, try encoded(Many(note: ["a", "b"]))) }
    }
    @Test("init(from:) may read fields in any order, twice, or not at all") func unorderedReads() throws {
        struct Peculiar: Codable, Equatable {
            var a: Int32, b: String, c: [Int64], d: Bool?
            init(a: Int32, b: String, c: [Int64], d: Bool?) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }
            enum CodingKeys: CodingKey { case a, b, c, d }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                a = try container.decode(Int32.self, forKey: .a)
                b = try container.decode(String.self, forKey: .b)
                c = try container.decode([Int64].self, forKey: .c)
                d = try container.decodeIfPresent(Bool.self, forKey: .d)
                if a == 7 {
                    c = try container.decode([Int64].self, forKey: .c)
                    a = try container.decode(Int32.self, forKey: .a)
                    if container.contains(.d) { d = try container.decode(Bool.self, forKey: .d) }
                    b = try container.decode(String.self, forKey: .b)
                }
            }
        }
        struct Pair: Codable, Equatable { var first: Peculiar, second: Peculiar }
        let seven = Peculiar(a: 7, b: "x", c: [1, 2], d: true), one = Peculiar(a: 7, b: "", c: [], d: nil)
        try expectThere(Pair(first: seven, second: one))
        try expectThere(Pair(first: one, second: seven))
    }
    @Test("keys beyond ASCII, double entries and many entries of a dictionary are read") func dictionaries() throws {
        try expectThere(["größer": 1, "": 2, "5": 3])
        try expectThere(Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("\($0)", $0) }))
        var writer = WireWriter()
        try DBusValue.encode(
            [
                .dictionary(
                    .dictionary(.string, .int32),
                    [.init(key: .string("a"), value: .int32(1)), .init(key: .string("a"), value: .int32(2))])
            ], into: &writer)
        #expect(try decoded([String: Int32].self, writer.bytes) == ["a": 2])
    }
}
