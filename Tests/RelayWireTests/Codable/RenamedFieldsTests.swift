import Testing

@testable import RelayWire

@Suite("Fields that were renamed") struct RenamedFieldsTests {
    struct Renamed: DomainEvent, RenamedFields, Equatable {
        typealias Interface = WireTest1
        static let formerNames = ["label": "title", "caption": "title", "size": "pages"]
        var id: Int64, title: String, pages: Int32?
    }
    struct Doubled: DomainEvent, RenamedFields {
        typealias Interface = WireTest1
        static let formerNames = ["label": "title"]
        var label: String, title: String
    }
    struct Lost: DomainEvent, RenamedFields {
        typealias Interface = WireTest1
        static let formerNames = ["label": "caption"]
        var title: String
    }
    /// Reads an event of other fields.
    private func read<Value: Codable>(_ value: Value) throws -> Renamed {
        let (sender, codec) = (try WireCodec(Value.self), try WireCodec(event: Renamed.self))
        var writer = WireWriter()
        try sender.encode(value, into: &writer)
        let translation = try WireTranslation(
            from: sender.schema.fields, to: codec.schema.fields, .reading, of: "Renamed")
        return try writer.withUnsafeBytes { try codec.decode($0, by: translation) }
    }
    @Test("are read under any name that they had, in any place") func read() throws {
        struct First: Codable { var id: Int64 = 1, label = "a", size: Int32? = 2 }
        struct Second: Codable { var caption = "b", id: Int64 = 2 }
        struct Present: Codable { var pages: Int32? = 3, id: Int64 = 3, title = "c" }
        #expect(try read(First()) == Renamed(id: 1, title: "a", pages: 2))
        #expect(try read(Second()) == Renamed(id: 2, title: "b", pages: nil))
        #expect(try read(Present()) == Renamed(id: 3, title: "c", pages: 3))
    }
    @Test("the present name counts, if an event has both") func both() throws {
        struct Both: Codable { var label = "old", id: Int64 = 1, title = "new" }
        struct Formers: Codable { var id: Int64 = 1, label = "first", caption = "second" }
        #expect(try read(Both()) == Renamed(id: 1, title: "new", pages: nil))
        // Of two former ones, which no version can have written, the first.
        #expect(try read(Formers()) == Renamed(id: 1, title: "first", pages: nil))
    }
    struct Outer: Codable, Equatable {
        struct Page: Codable, Equatable, RenamedFields {
            static let formerNames = ["title": "heading"]
            var heading: String
        }
        enum Part: TaggedEnum, Equatable { case cover, page(Page) }
        var pages: [Page], parts: [String: Part], last: Page?
    }
    struct FormerOuter: Codable {
        struct Page: Codable { var title: String }
        enum Part: TaggedEnum { case page(Page), cover }
        var pages: [Page], parts: [String: Part], last: Page?
    }
    @Test("nested structs and payloads have former names, too, which work for senders of either age") func nested()
        throws
    {
        let (old, new) = (try WireCodec(FormerOuter.self), try WireCodec(Outer.self))
        #expect(
            new.schema.fields.map(\.contractText) == [
                "pages:a(heading|title:s)", "parts:a{s[cover,page(_0:(heading|title:s))]}", "last:?(heading|title:s)",
            ])
        var writer = WireWriter()
        try old.encode(
            FormerOuter(
                pages: [.init(title: "a"), .init(title: "b")], parts: ["x": .page(.init(title: "c")), "y": .cover],
                last: .init(title: "d")), into: &writer)
        let reading = try WireTranslation(from: old.schema.fields, to: new.schema.fields, .reading, of: "Outer")
        // Names alone differ: the bytes are the same.
        #expect(reading.isIdentity)
        let value = try writer.withUnsafeBytes { try new.decode($0, by: reading) }
        #expect(
            value
                == Outer(
                    pages: [.init(heading: "a"), .init(heading: "b")],
                    parts: ["x": .page(.init(heading: "c")), "y": .cover], last: .init(heading: "d")))
        // An old reader, which learns the former names from the new sender.
        let text = try new.schema.fields.map { try WireField(parsing: $0.contractText) }
        #expect(try WireTranslation(from: text, to: old.schema.fields, .reading, of: "Outer").isIdentity)
        let nameless = try new.schema.fields.map { try WireField(parsing: $0.description) }
        #expect(throws: RelayError.self) {
            try WireTranslation(from: nameless, to: old.schema.fields, .reading, of: "Outer")
        }
    }
    @Test("are written under the present name alone") func written() throws {
        #expect(try WireCodec(event: Renamed.self).schema.fields.map(\.name) == ["id", "title", "pages"])
    }
    @Test("a former name of another type is a mismatch") func retyped() {
        struct Other: Codable { var id: Int64 = 1, label: Int32 = 2 }
        let error = #expect(throws: RelayError.self) { try read(Other()) }
        #expect(error?.code == .schemaMismatch && error?.message.contains("'title'") == true)
    }
    @Test("a former name that is also a field, or leads to none, is refused at registration") func refused() {
        for (error, field) in [
            (#expect(throws: RelayError.self) { _ = try WireCodec(event: Doubled.self) }, "label"),
            (#expect(throws: RelayError.self) { _ = try WireCodec(event: Lost.self) }, "caption"),
        ] {
            #expect(error?.code == .unsupportedType && error?.message.contains("field '\(field)'") == true)
        }
    }
}
