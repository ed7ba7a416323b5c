import Testing

@testable import RelayWire

@Suite("Events of other versions") struct OtherVersionsTests {
    struct Box: Codable, Equatable { var boxID: Int64, title: String, note: String? }
    struct Older: Codable { var boxID: Int64, title: String }
    struct Newer: Codable {
        var colour: [String: [Int32]], boxID: Int64, weight: Double?, title: String, note: String?, size: Size
        struct Size: Codable { var width: Double, depth: Double? }
    }
    struct Reordered: Codable {
        var note: String?
        var title: String
        var boxID: Int64
    }
    struct Retyped: Codable { var boxID: String, title: String, note: String? }
    struct Required: Codable { var boxID: Int64, title: String, note: String }
    struct Outer: Codable, Equatable { var inner: Older2 }
    struct Older2: Codable, Equatable { var a: Int64 }
    struct Outer2: Codable { var inner: Renamed }
    struct Renamed: Codable { var b: Int64 }

    /// What `Box` becomes of what a sender of another version sends, with a stamp behind it.
    private func received<Sent: Codable>(_ sent: Sent) throws -> Box {
        let (theirs, ours) = (try WireCodec(Sent.self), try WireCodec(Box.self))
        // As it comes from introspection: text.
        let fields = try theirs.schema.fields.map { try WireField(parsing: $0.description) }
        let translation = try WireTranslation(from: fields, to: ours.schema.fields, .reading, of: "Box")
        var writer = WireWriter()
        try theirs.encode(sent, into: &writer)
        writer.align(8)
        for number: UInt64 in 1...3 { writer.uint64(number) }
        return try writer.withUnsafeBytes { body in
            let box = try ours.decode(stamped: body, by: translation)
            #expect(try ours.decode(body, by: translation, trailing: try Signature("ttt")) == box)
            return box
        }
    }
    @Test("the same fields are read in place") func identical() throws {
        let codec = try WireCodec(Box.self)
        #expect(
            try WireTranslation(from: codec.schema.fields, to: codec.schema.fields, .reading, of: "Box").isIdentity)
        #expect(try received(Box(boxID: 1, title: "a", note: "n")) == Box(boxID: 1, title: "a", note: "n"))
    }
    @Test("a missing optional field is nil") func older() throws {
        #expect(try received(Older(boxID: 1, title: "a")) == Box(boxID: 1, title: "a", note: nil))
    }
    @Test("fields that only the sender has are passed over, wherever they stand") func newer() throws {
        let newer = Newer(
            colour: ["red": [1, 2]], boxID: 1, weight: 2, title: "a", note: "n", size: .init(width: 1, depth: nil))
        #expect(try received(newer) == Box(boxID: 1, title: "a", note: "n"))
    }
    @Test("another order is read by name") func reordered() throws {
        #expect(try received(Reordered(note: "n", title: "a", boxID: 1)) == Box(boxID: 1, title: "a", note: "n"))
    }
    @Test("what the types cannot bridge is SchemaMismatch with event, field and both shapes")
    func mismatches() throws {
        func mismatch<Sent: Codable, Ours: Codable>(_ sent: Sent.Type, _ ours: Ours.Type) throws -> RelayError {
            try #require(throws: RelayError.self) {
                try WireTranslation(
                    from: try WireSchema(of: sent).fields, to: try WireSchema(of: ours).fields, .reading,
                    of: "BoxProvisioned")
            }
        }
        let cases = [
            (try mismatch(Retyped.self, Box.self), "boxID", "'s'", "'x'"),
            (try mismatch(Older.self, Required.self), "note", "none", "'s'"),
            (try mismatch(Box.self, Required.self), "note", "'?s'", "'s'"),
            (try mismatch(Required.self, Box.self), "note", "'s'", "'?s'"),
            (try mismatch(Outer2.self, Outer.self), "inner.a", "none", "'x'"),
        ]
        for (error, field, theirs, ours) in cases {
            #expect(error.code == .schemaMismatch)
            for part in ["BoxProvisioned", "'\(field)'", theirs, ours] {
                #expect(error.message.contains(part), "\(error.message)")
            }
        }
        let doubled = [WireField(name: "a", type: .bool), WireField(name: "a", type: .bool)]
        let error = #expect(throws: RelayError.self) {
            try WireTranslation(from: doubled, to: try WireSchema(of: Older2.self).fields, .reading, of: "E")
        }
        #expect(error?.code == .schemaMismatch)
    }
    @Test("a type that is no structure maps like one with the field 'value'") func plain() throws {
        let codec = try WireCodec([Int32].self)
        let sender = [try WireField(parsing: "extra:s"), try WireField(parsing: "value:ai")]
        let translation = try WireTranslation(from: sender, to: codec.schema.fields, .reading, of: "E")
        var writer = WireWriter()
        try writer.string("x")
        try codec.encode([1, 2], into: &writer)
        #expect(try writer.withUnsafeBytes { try codec.decode($0, by: translation) } == [1, 2])
    }
}
