import Foundation

@testable import RelayWire

/// An interface whose events only the wire tests use.
enum WireTest1: EventInterface {
    static let name = "org.example.WireTest1"
    static var contract: Contract<Self> { Minimal.self }
}
protocol WireTestEvent: DomainEvent where Interface == WireTest1 {}

struct Minimal: WireTestEvent, Equatable { var boxID: Int64 }

/// Accepts only its own form, which one of the probe's samples has.
struct ItemTag: Codable, Hashable, Sendable {
    let text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard text.utf8.count == 36 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "36 characters, please"))
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
/// No sample fits: it brings its own.
struct Plate: Codable, Hashable, Sendable, WireExample {
    let text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard text.hasPrefix("B-") else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not from Berlin"))
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
    static var wireExample: Plate { Plate("B-AB 1234") }
}
enum Fragility: String, Codable, CaseIterable, Sendable { case sturdy, fragile }
enum Floor: Int16, Codable, CaseIterable, Sendable { case cellar = -1, ground, first }

struct Dimensions: Codable, Hashable, Sendable { var width: Float, height: Float, depth: Float? }
struct Shelf: Codable, Hashable, Sendable { var label: String, sizes: [Dimensions], free: Range<Int32> }

struct TruckLoaded: WireTestEvent, Equatable {
    var truck: UUID
    var tag: ItemTag
    var plate: Plate
    var floor: Floor
    var handling: [Fragility]
    var shelves: [Shelf]
    var weights: [String: Double]
    var byFloor: [Floor: [Int64]]
    var photo: [UInt8]
    var note: String?
    var dimensions: Dimensions?
    var leftAt: Timestamp
    var isFull: Bool

    static let sample = TruckLoaded(
        truck: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        tag: ItemTag("123456789012345678901234567890123456"), plate: Plate("B-XY 99"), floor: .cellar,
        handling: [.fragile, .sturdy],
        shelves: [
            Shelf(
                label: "größer",
                sizes: [Dimensions(width: 1, height: 2, depth: nil), Dimensions(width: 3, height: 4, depth: 5)],
                free: 3..<9), Shelf(label: "", sizes: [], free: 0..<0),
        ], weights: ["a": 1.5, "": -2], byFloor: [.ground: [1, 2], .first: []], photo: [0, 255, 7], note: "fragile",
        dimensions: Dimensions(width: 7, height: 8, depth: 9), leftAt: Timestamp(microseconds: 1_795_166_104_123_456),
        isFull: true)
}

/// Each row of the table "Swift ↔ D-Bus".
struct AllTypes: Codable, Equatable {
    var bool: Bool, byte: UInt8, int8: Int8, int16: Int16, uint16: UInt16, int32: Int32, uint32: UInt32
    var int64: Int64, int: Int, uint64: UInt64, uint: UInt, float: Float, double: Double, string: String, uuid: UUID
    var bytes: [UInt8], strings: [String], numbers: [Int32], set: Set<Int16>, optionals: [Double?]
    var byString: [String: Int32], byInt: [Int: String], byUInt16: [UInt16: Bool], byFragility: [Fragility: UInt8]
    var nested: Dimensions, range: Range<Int32>, maybe: Int64?, maybeNot: Int64?, maybeNested: Dimensions?
    var maybeBytes: [UInt8]?, floor: Floor, maybeFloor: Floor?, optionalsByName: [String: Int16?], data: Data

    static let sample = AllTypes(
        bool: true, byte: 255, int8: -128, int16: .min, uint16: .max, int32: .min, uint32: .max, int64: .min, int: .max,
        uint64: .max, uint: 7, float: 0.5, double: -.infinity, string: "Kitchen", uuid: TruckLoaded.sample.truck,
        bytes: [1, 2], strings: ["", "a"], numbers: [1, -1], set: [5], optionals: [1, nil, 2], byString: ["k": 1],
        byInt: [-3: "x"], byUInt16: [9: false], byFragility: [.fragile: 1],
        nested: Dimensions(width: 1, height: 2, depth: nil), range: -1..<4, maybe: 4, maybeNot: nil,
        maybeNested: Dimensions(width: 3, height: 4, depth: 5), maybeBytes: [8], floor: .first, maybeFloor: .cellar,
        optionalsByName: ["a": 1, "b": nil], data: Data([3, 4]))
}
