import TestTraits
import Foundation
import Testing

@testable import RelayWire

@Suite("Schema derivation") struct WireSchemaTests {
    @Test("a type's fields, signature and shapes are derived") func derived() throws {
        let schema = try WireSchema(event: TruckLoaded.self)
        #expect(schema.signature == "sssnasa(sa(ddad)(ii))a{sd}a{nax}ayasa(ddad)tb")
        #expect(
            schema.fields.map(\.description) == [
                "truck:s", "tag:s", "plate:s", "floor:n", "handling:as",
                "shelves:a(label:s,sizes:a(width:d,height:d,depth:?d),free:(_0:i,_1:i))", "weights:a{sd}",
                "byFloor:a{nax}", "photo:ay", "note:?s", "dimensions:?(width:d,height:d,depth:?d)", "leftAt:t",
                "isFull:b",
            ])
        #expect(schema.fields[0].swiftType == "UUID")
    }
    @Test("an event without fields is allowed") func noFields() throws {
        struct Ping: WireTestEvent {}
        #expect(try WireSchema(event: Ping.self).signature == "")
    }

    enum Bad {
        struct Payloads: WireTestEvent {
            enum Outcome: Codable { case done(Int), failed }
            var outcomes: [Outcome]
        }
        struct Tree: WireTestEvent {
            struct Node: Codable { var children: [Node] }
            var root: Node
        }
        struct NoCases: WireTestEvent {
            enum Kind: String, Codable { case box, bag }
            var kinds: [String: Kind]
        }
        struct Empty: WireTestEvent {
            struct Nothing: Codable {}
            var nothing: Nothing
        }
        struct IllegalName: WireTestEvent { var größe: Int }
        struct Reserved: WireTestEvent { var sequence: UInt64 }
        struct ReservedToo: WireTestEvent { var publishedAt: UInt64 }
        struct Point: Codable, Hashable { var x: Int, y: Int }
        struct StructKey: WireTestEvent { var sizes: [Point: Int] }
        struct Validating: WireTestEvent {
            struct Even: Codable {
                let value: Int
                init(from decoder: any Decoder) throws {
                    value = try decoder.singleValueContainer().decode(Int.self)
                    guard value == 4_711 else {
                        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "only 4711"))
                    }
                }
            }
            var number: Even
        }
        struct Asymmetric: WireTestEvent {
            var a: Int, b: Int
            enum CodingKeys: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(b, forKey: .b)
                try container.encode(a, forKey: .a)
            }
        }
        struct NestedAsymmetric: WireTestEvent {
            struct Inner: Codable {
                var a: Int
                enum CodingKeys: CodingKey { case a }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.container(keyedBy: CodingKeys.self)
                    try container.encode("\(a)", forKey: .a)
                }
            }
            var inners: [Inner]
        }
        struct Huge: WireTestEvent { var number: Int128 }
        struct Holder<T: Codable & Sendable>: WireTestEvent { var value: T }
        struct Twice: WireTestEvent { var note: String?? }
        struct Renamed: WireTestEvent {
            static let name = "not a name"
            var a: Int
        }
        class Base: Codable { var a = 1 }
        final class Derived: Base, @unchecked Sendable {}
        struct Wide<T: Codable & Sendable>: Codable, Sendable { var a: T, b: T, c: T, d: T }
        struct TooWide: WireTestEvent { var all: Wide<Wide<Wide<Wide<Bool>>>> }
        struct JustTooWide: WireTestEvent {
            var most: Wide<Wide<Wide<[UInt8]>>>, more: Wide<Wide<[UInt8]>>, less: Wide<Wide<Bool>>
            var a: Wide<Bool>, b: Wide<Bool>, c: Bool
        }
        struct Hand: WireTestEvent {
            var a: Int
            enum CodingKeys: CodingKey { case a }
            init(from decoder: any Decoder) throws {
                a = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(
                    keyedBy: CodingKeys.self, forKey: .a
                )
                .decode(Int.self, forKey: .a)
            }
        }
    }
    static let refusals: [(any DomainEvent.Type, String, String)] = [
        (Bad.Payloads.self, "outcomes[]", "TaggedEnum"),
        (Bad.Tree.self, "root.children[]", "contains itself"),
        (Bad.NoCases.self, "kinds{value}", "make Kind CaseIterable"), (Bad.Empty.self, "nothing", "no empty structure"),
        (Bad.IllegalName.self, "größe", "not a D-Bus name"), (Bad.Reserved.self, "sequence", "every signal ends with"),
        (Bad.ReservedToo.self, "publishedAt", "every signal ends with"),
        (Bad.StructKey.self, "sizes{key}", "no basic type"), (Bad.Validating.self, "number", "make it a WireExample"),
        (Bad.Asymmetric.self, "", "'b' where 'a' is next"),
        (Bad.NestedAsymmetric.self, "inners[]", "a string where a int64"),

        (Bad.Huge.self, "number", "Int128"),
        (Bad.Holder<Int>.self, "", "is not a D-Bus name"), (Bad.Twice.self, "note", "an optional of an optional"),
        (Bad.Renamed.self, "", "'not a name'"), (Bad.TooWide.self, "", "D-Bus allows 255"),
        (Bad.JustTooWide.self, "", "with the stamp's"), (Bad.Hand.self, "a", "nested by hand"),
        (Fixed.Padded.self, "", "padding"), (Fixed.Tail.self, "", "padding"), (Fixed.Flagged.self, "isIdle", "a Bool"),
        (Fixed.Kinded.self, "kind", "is an enum"), (Fixed.Pointed.self, "", "uncoded field"),
    ]
    @Test("what D-Bus cannot carry is refused by type, field and reason", arguments: refusals.indices)
    func refused(_ index: Int) throws {
        func check<E: DomainEvent>(_ type: E.Type, _ field: String, _ reason: String) throws {
            let error = try #require(throws: RelayError.self) { try WireSchema(event: type) }
            #expect(error.code == .unsupportedType)
            let refusal = try #require(error.cause as? SchemaRefusal)
            #expect(refusal.type == "\(type)")
            #expect(refusal.field == field, "\(refusal)")
            #expect(refusal.reason.contains(reason), "\(refusal)")
        }
        let (type, field, reason) = Self.refusals[index]
        try check(type, field, reason)
    }
    @Test("Foundation's types name the library that sends them, where it is not linked") func foreign() throws {
        for (type, part) in [
            (Date.self, "use Timestamp"), (URL.self, "absoluteString"),
            (Decimal.self, "an integer of the smallest unit"),
        ] as [(Any.Type, String)] {
            let reason = try #require(ForeignTypes.refusal(of: type))
            #expect(reason.contains("link and import") && reason.contains("RelayFoundation") && reason.contains(part))
        }
        #expect(ForeignTypes.refusal(of: UUID.self) == nil && ForeignTypes.refusal(of: Int.self) == nil)
    }
    @Test("a class hierarchy is refused") func inheritance() throws {
        final class Derived: Bad.Base {
            var b = 2
            required init(from decoder: any Decoder) throws {
                try super.init(from: decoder.container(keyedBy: Key.self).superDecoder())
            }
            enum Key: CodingKey { case b }
        }
        #expect(throws: RelayError.self) { try WireSchema(of: Derived.self) }
    }
    @Test("33 levels of structures or arrays are refused") func tooDeep() throws {
        struct Level<T: Codable>: Codable { var inner: T }
        func grown<T: Codable>(_ type: T.Type, _ levels: Int) throws -> WireSchema {
            levels == 0 ? try WireSchema(of: type) : try grown(Level<T>.self, levels - 1)
        }
        func stacked<T: Codable>(_ type: T.Type, _ levels: Int) throws -> WireSchema {
            levels == 0 ? try WireSchema(of: type) : try stacked([T].self, levels - 1)
        }
        #expect(try grown(Int.self, 32).signature.count == 63)
        #expect(throws: RelayError.self) { try grown(Int.self, 33) }
        #expect(try stacked(Int.self, 32).signature.count == 33)
        #expect(throws: RelayError.self) { try stacked(Int.self, 33) }
    }
    enum Fixed {
        struct Sound: FixedLayoutEvent {
            typealias Interface = WireTest1
            var user: Double, system: Double, cpu: UInt32, flags: UInt32
        }
        struct Padded: FixedLayoutEvent {
            typealias Interface = WireTest1
            var cpu: UInt8, load: Double
        }
        struct Tail: FixedLayoutEvent {
            typealias Interface = WireTest1
            var load: Double, cpu: UInt32
        }
        struct Flagged: FixedLayoutEvent {
            typealias Interface = WireTest1
            var load: UInt64, isIdle: Bool
        }
        enum Kind: UInt8, Codable, CaseIterable { case user, system }
        struct Kinded: FixedLayoutEvent {
            typealias Interface = WireTest1
            var kind: Kind
        }
        struct Pointed: FixedLayoutEvent, @unchecked Sendable {
            typealias Interface = WireTest1
            var load: UInt64
            var address: UnsafeRawPointer?
            enum CodingKeys: CodingKey { case load }
        }
    }
    @Test("a fixed layout without padding is accepted") func fixedLayout() throws {
        #expect(try WireSchema(event: Fixed.Sound.self).signature == "dduu")
    }
}
