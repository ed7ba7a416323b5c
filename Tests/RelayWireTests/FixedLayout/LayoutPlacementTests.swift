import Testing

@testable import RelayWire

@Suite("Padding in fixed layouts") struct LayoutPlacementTests {
    @Test(
        "the message names the place of the padding and a cure that works",
        arguments: [
            (
                "count:u4,celsius:f8,humidity:u4",
                "4 bytes of padding before 'celsius': make 'count' a UInt64 or move it last"
            ),
            ("cpu:u1,load:f8", "7 bytes of padding before 'load': make 'cpu' a UInt64"),
            ("load:f8,cpu:u4", "4 bytes of padding behind 'cpu', the last field: make 'cpu' a UInt64"),
            ("heat:f4,load:f8", "4 bytes of padding before 'load': make 'heat' a Double"),
            (
                "at:u8,samples:u1*3",
                "5 bytes of padding behind 'samples', the last field: make 'samples' a FixedArray<8, UInt8>"
            ),
            ("a:u1,b:u4,c:u2,d:u1", "3 bytes of padding before 'b': make 'a' a UInt32 or move it last"),
            ("a:u1,part:(x:u4,y:u4)", "3 bytes of padding before 'part': make 'a' a UInt32"),
            ("part:(x:u4,y:u1),b:u2,c:u1", "1 byte of padding before 'b': make 'part.y' a UInt16"),
            (
                "a:u4,b:u1,c:u8,d:u2,e:u1",
                "3 bytes of padding before 'c': make 'b' a UInt32 or put the wider fields first"
            ),
            ("a:u2,b:u1,c:u8,d:u4,e:u1", "5 bytes of padding before 'c': put the wider fields first"),
            ("a:u2,b:u1,c:u8", "5 bytes of padding before 'c': add a field of that size there"),
        ])
    func advice(_ layout: String, _ expected: String) {
        #expect(LayoutPlacement(layout: layout)?.advice == expected)
    }
    @Test("a layout without padding has no advice", arguments: ["user:f8,cpu:u4,flags:u4", "value:f4", "a:u1*7,b:u1"])
    func sound(_ layout: String) throws {
        let placement = try #require(LayoutPlacement(layout: layout))
        #expect(placement.advice == nil && placement.hole == nil && placement.size == placement.stride)
    }

    struct Three<A, B, C> { var a: A, b: B, c: C }
    struct Pair<A, B> { var a: A, b: B }
    @Test("fields are where Swift puts them, structures in structures included") func agreesWithSwift() throws {
        let types: [(any FixedLayoutNumber.Type, String)] = [
            (UInt8.self, "u1"), (Int16.self, "i2"), (Float.self, "f4"), (UInt64.self, "u8"),
        ]
        func check<A, B, C>(_: A.Type, _: B.Type, _: C.Type, _ names: (String, String, String)) throws {
            let flat = try #require(LayoutPlacement(layout: "a:\(names.0),b:\(names.1),c:\(names.2)"))
            #expect(flat.size == MemoryLayout<Three<A, B, C>>.size, "\(names)")
            #expect(flat.stride == MemoryLayout<Three<A, B, C>>.stride, "\(names)")
            let nested = try #require(LayoutPlacement(layout: "p:(a:\(names.0),b:\(names.1)),c:\(names.2)"))
            #expect(nested.size == MemoryLayout<Pair<Pair<A, B>, C>>.size, "\(names)")
            let inner = try #require(LayoutPlacement(layout: "a:\(names.0),p:(b:\(names.1),c:\(names.2))"))
            #expect(inner.stride == MemoryLayout<Pair<A, Pair<B, C>>>.stride, "\(names)")
        }
        for a in types {
            for b in types { for c in types { try check(a.0, b.0, c.0, (a.1, b.1, c.1)) } }
        }
    }
    @Test("text that is no layout places nothing", arguments: ["", "a", "a:x9", "a:u1,", "a:(b:u1", "a:u1*", "a:u1)"])
    func malformed(_ layout: String) { #expect(LayoutPlacement(layout: layout) == nil) }
}

@Suite("Differences of schemas") struct SchemaDifferenceTests {
    private let fields = [WireField(name: "label", type: .string), WireField(name: "sizes", type: .array(.int32))]

    @Test(
        "the field that differs is named",
        arguments: [
            ("sai", nil), ("s", "field 'sizes' ('ai') is missing"), ("", "field 'label' ('s') is missing"),
            ("sau", "field 'sizes' came as 'au' instead of 'ai'"), ("xai", "field 'label' came as 'x' instead of 's'"),
            ("sais(bb)", "'s(bb)' came behind the last field 'sizes'"), ("!", "its signature '!' is none"),
        ] as [(String, String?)])
    func difference(_ signature: String, _ expected: String?) {
        #expect(SchemaDifference.text(of: signature, from: fields) == expected)
    }
    @Test("fields are listed by name and type") func list() {
        #expect(SchemaDifference.text(fields) == "(label: s, sizes: ai)")
        #expect(SchemaDifference.text([WireField]()) == "no arguments")
        #expect(SchemaDifference.text(of: "u", from: []) == "'u' came behind no fields")
    }
}
