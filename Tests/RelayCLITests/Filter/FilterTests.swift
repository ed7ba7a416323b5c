import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Expressions of --where", .tags(.g8))
struct FilterTests {
    /// An event with something of everything.
    enum Sample {
        static let cases = [
            WireCase("open", .signed(0)), WireCase("paused", .signed(1)), WireCase("closed", .signed(2)),
        ]
        static let fields: [IntrospectedField] = [
            IntrospectedField(name: "boxID", shape: .basic(.int64)),
            IntrospectedField(name: "capacity", shape: .basic(.int32)),
            IntrospectedField(name: "title", shape: .basic(.string)),
            IntrospectedField(name: "isFull", shape: .basic(.boolean)),
            IntrospectedField(name: "weight", shape: .optional(.basic(.double))),
            IntrospectedField(name: "colour", shape: .optional(.basic(.string))),
            IntrospectedField(name: "state", shape: .named(.int32, cases)),
            IntrospectedField(
                name: "origin",
                shape: .structure([
                    Shape.Member(name: "room", shape: .basic(.int32)),
                    Shape.Member(
                        name: "shelf", shape: .optional(.structure([.init(name: "row", shape: .basic(.uint64))]))),
                ])),
            IntrospectedField(name: "tags", shape: .array(.basic(.string))),
            IntrospectedField(name: "states", shape: .array(.named(.int32, cases))),
            IntrospectedField(name: "labels", shape: .dictionary(.string, .basic(.int32))),
            IntrospectedField(name: "anything", shape: .variant),
            IntrospectedField(name: "packedAt", shape: .basic(.uint64)),
        ]
        static let stamp = Samples.stamp(17, previous: 12, at: 1_795_166_104_123_456, epoch: 9)

        /// The box 3 of 10, "Kitchen", without a colour.
        static func body() throws -> [UInt8] {
            try Samples.body { writer in
                writer.int64(3)
                writer.int32(10)
                try writer.string("Kitchen")
                writer.bool(true)
                try array(&writer, alignment: 8) { $0.double(2.5) }
                try array(&writer, alignment: 4) { _ in }
                writer.int32(1)
                writer.align(8)
                writer.int32(7)
                try array(&writer, alignment: 8) { $0.uint64(.max) }
                try array(&writer, alignment: 4) {
                    try $0.string("fragile")
                    try $0.string("blue")
                }
                try array(&writer, alignment: 4) {
                    $0.int32(0)
                    $0.int32(2)
                }
                try array(&writer, alignment: 8) {
                    try $0.string("de")
                    $0.int32(4)
                }
                try writer.signature(Signature("i"))
                writer.int32(5)
                writer.uint64(1_795_166_000_000_000)
                for stamp in [stamp.sequence, stamp.previous, stamp.publishedAt.microseconds] { writer.uint64(stamp) }
            }
        }
        private static func array(
            _ writer: inout WireWriter, alignment: Int, _ elements: (inout WireWriter) throws -> Void
        ) throws {
            let mark = writer.beginArray(elementAlignment: alignment)
            try elements(&writer)
            try writer.endArray(mark)
        }
    }
    private static func holds(_ text: String) throws -> Bool {
        let filter = try EventFilter(text, at: Samples.time)
        let condition = try filter.condition(for: "BoxPacked", of: "org.example.Packing1", fields: Sample.fields)
        return try Sample.body().withUnsafeBytes { try condition.holds(Sample.stamp, $0) }
    }

    @Test(
        "what holds for the event",
        arguments: [
            "capacity > 5", "capacity >= 10 && capacity <= 10", "capacity == 10.0", "capacity < 10.5", "capacity != 9",
            "5 < capacity", "boxID < capacity", "-1 < boxID", "boxID == 3e0", #"title == "Kitchen""#,
            "title == 'Kitchen'",
            #"title ~ "Kit""#, #"title ~ "^K.*n$""#, #"title !~ "^kit""#, #"title contains "itch""#,
            #"title < "Kitchens""#,
            "isFull", "isFull == true", "!(isFull == false)", "!!isFull", "weight > 2", "weight != null",
            "weight == 2.5",
            "colour == null", #"colour != "red""#, #"!(colour == "red")"#, "state == paused", #"state == "paused""#,
            "state != open", "state == 1", "paused == state", "origin.room == 7", "origin.shelf != null",
            "origin.shelf.row == 18446744073709551615", "origin.shelf.row > 9223372036854775807",
            #"tags contains "blue""#, "states contains closed", "!(states contains paused)", #"labels contains "de""#,
            "labels.de == 4", "labels.en == null", "anything == 5", "anything > 4.5", #"anything != "x""#,
            "sequence == 17", "previous < sequence", "epoch == 9", #"event == "BoxPacked""#,
            #"interface ~ "Packing1$""#,
            #"publishedAt > "2026-11-20T09:15:04""#, #"publishedAt < "09:15:05""#, #"publishedAt > "1d""#,
            #"packedAt < "2026-11-20T10:30:00+01:00""#, "packedAt < publishedAt",
            #"capacity > 5 && title ~ "Kit" || false == isFull"#, "isFull || isFull && !isFull", #"title ~ "K|\.""#,
            "weight >= 2.4999999999999996", "capacity > -1.5e300",
        ])
    func holding(_ text: String) throws { #expect(try Self.holds(text)) }

    @Test(
        "what does not",
        arguments: [
            "capacity > 10", "capacity != 10", "boxID == 4", #"title == "kitchen""#, #"title ~ "^it""#, "!isFull",
            "weight > 2.5", "weight == null", #"colour == "red""#, #"colour ~ """#, #"colour > """#, "state == open",
            "origin.shelf == null", #"tags contains "red""#, "states contains paused", "labels.en == 4",
            "labels.en > -1", #"anything == "5""#, #"publishedAt > "09:15:05""#, "isFull && !isFull",
            #"title contains "x""#, "origin.shelf.row < 18446744073709551615",
        ])
    func failing(_ text: String) throws { #expect(try !Self.holds(text)) }

    @Test(
        "an error names its place, with a caret below it",
        arguments: [
            ("capacity = 5", "'=' compares nothing; '==' does", 9),
            ("capacity > ", "a field or a value is missing at the end", 11),
            ("", "an expression is missing", 0), ("(capacity > 5", "')' is missing before the end", 13),
            ("capacity > 5)", "')' has no '(' before it", 12),
            ("capacity 5", "'&&', '||' or an operator is missing before this number", 9),
            ("1 < capacity < 5", "two comparisons need '&&' between them: 1 < a && a < 5", 13),
            (#"title == "Kit"#, "this text has no end: the quote is missing", 9),
            ("capacty > 5", "BoxPacked has no field 'capacty'; did you mean 'capacity'?", 0),
            ("isFull && origin.rom == 1", "'origin' has no field 'rom'; did you mean 'room'?", 10),
            ("tags.blue", "'tags' is a list, which has no fields; 'contains' looks into it", 0),
            ("title.length > 1", "'title' is of type string, which has no fields", 0),
            ("title > 5", "this is a number, but 'title' is of type string", 8),
            (#"capacity == "5""#, "this is a text, but 'capacity' is of type int32", 12),
            ("capacity", "'capacity' is of type int32, so it is no condition; compare it with a value", 0),
            ("5", "this is a value; a condition compares one with a field: capacity > 5", 0),
            ("capacity == null", "'capacity' is of type int32, and is never null", 12),
            ("weight < null", "null has no order; '==' and '!=' compare with it", 9),
            ("isFull > true", "true and false have no order; '==' and '!=' compare them", 9),
            (
                "state == pausd",
                "'state' is of type open | paused | closed: 'pausd' is none of these; did you mean 'paused'?", 9
            ),
            ("state < paused", "names have no order; '==' and '!=' compare them", 8),
            (#"title ~ "(""#, "this is no regular expression: Unmatched ( or \\(", 8),
            ("title ~ title", "behind '~' stands a regular expression in quotes", 8),
            ("capacity ~ \"1\"", "'capacity' is of type int32; '~' looks into texts", 0),
            ("capacity contains 1", "'capacity' is of type int32; 'contains' looks into lists and texts", 0),
            ("tags contains 5", "this is a number, but 'tags' is of type [string]", 14),
            ("tags == 5", "'tags' is of type [string]; 'contains' looks into it", 0),
            ("publishedAt > 15m", "a number ends here; a time stands in quotes, such as \"15m\" or \"13:00\"", 16),
            ("publishedAt > 15", "a time stands in quotes, as --since takes it: \"15m\", \"13:00\"", 14),
            (
                #"publishedAt > "noon""#,
                "'noon' is no sequence, time or duration: 17, 2026-11-20T13:00:00, 13:00, 2026-11-20, @1795179600, 15m",
                14
            ),
            ("(capacity > 5) == true", "a condition is compared with nothing; '&&', '||' and '!' join conditions", 1),
            ("boxID > 99999999999999999999", "no number of 64 bits is so large", 8),
            ("boxID > 1e999", "no number is so large", 8), ("a.5", "a field's name is missing behind '.'", 2),
            (String(repeating: "!", count: 65) + "isFull", "parentheses and '!' go no deeper than 64", 65),
        ])
    func faults(_ text: String, _ message: String, _ column: Int) {
        let fault = #expect(throws: FilterFault.self) { try Self.holds(text) }
        #expect(fault == FilterFault(message, at: column))
    }
    @Test(
        "a case that an enum does not have is named, and one that has no fields",
        arguments: [
            ("end.sen.truck > 3", "'end' has no case 'sen'; did you mean 'sent'?"),
            ("end.lost.truck > 3", "'end.lost' has no fields; compare 'end' with it: end == lost"),
        ])
    func faultsOfCases(_ text: String, _ message: String) {
        let cases = [
            Shape.Case(name: "sent", members: [Shape.Member(name: "truck", shape: .basic(.int32))]),
            Shape.Case(name: "lost", members: []),
        ]
        let fields = [IntrospectedField(name: "end", shape: .tagged(cases))]
        let fault = #expect(throws: FilterFault.self) {
            _ = try EventFilter(text, at: Samples.time).condition(
                for: "BoxGone", of: "org.example.Packing1", fields: fields)
        }
        #expect(fault == FilterFault(message, at: 0))
    }
    @Test("a pattern that could take all of the stack is refused; one of the greatest length is not")
    func longPattern() throws {
        func pattern(_ part: String, _ count: Int, _ end: String = "") throws {
            _ = try TextPattern(String(repeating: part, count: count) + String(repeating: end, count: count))
        }
        let refusal = PatternFault(reason: "it has more than 1000 bytes")
        #expect(throws: refusal) { try pattern("(", 1_000_000) }
        #expect(throws: refusal) { try pattern("a*", 1_000_000) }
        try pattern("(", 500, ")")
        try pattern("a*", 500)
    }
    @Test("the caret stands below the place, also in a long text, and nothing acts on the terminal")
    func caret() {
        #expect(FilterFault("", at: 3).excerpt(of: "a\tb+c") == ["  a?b+c", "     ^"])
        let long = String(repeating: "a", count: 100) + "?" + String(repeating: "b", count: 100)
        let lines = FilterFault("", at: 100).excerpt(of: long)
        #expect(lines[0].count == 74 && lines[1] == String(repeating: " ", count: 38) + "^")
        #expect(Array(lines[0])[38] == "?")
    }

    @Test("random texts are read or refused within their length; what is read, is compared without a trap")
    func fuzz() throws {
        let words = [
            "capacity", "title", "state", "paused", "origin", "room", ".", "tags", "labels", "anything", "weight",
            "null",
            "true", "&&", "||", "!", "(", ")", "==", "!=", "<", "<=", ">", ">=", "~", "!~", "contains", "5", "-7",
            "2.5e3",
            "18446744073709551615", "\"Kit\"", "'x", "\"15m\"", "\"13:00\"", "publishedAt", "packedAt", "sequence", " ",
            "é",
            "\u{1F4E6}", "\\", "[", "\"[\"", "\"(a*)*b\"", "=", "&", "\u{0}", "e", "shelf", "row",
        ]
        var generator = SeededGenerator(seed: 15)
        let body = try Sample.body()
        var (read, fitting) = (0, 0)
        for _ in 0..<TestForm.rounds(20_000, soak: 2_000_000) {
            let count = 1 + generator.below(9)
            let text = (0..<count).map { _ in words[generator.below(words.count)] }
                .joined(separator: generator.chance(3) ? "" : " ")
            do throws(FilterFault) {
                let filter = try EventFilter(text, at: Samples.time)
                read += 1
                let condition = try filter.condition(for: "E", of: "a.b", fields: Sample.fields)
                fitting += 1
                body.withUnsafeBytes { bytes in
                    // A body that ends early is a fault, never a trap.
                    let end = generator.chance(2) ? bytes.count : generator.below(bytes.count)
                    _ = try? condition.holds(Sample.stamp, UnsafeRawBufferPointer(rebasing: bytes[..<end]))
                }
            } catch {
                #expect((0...text.count).contains(error.column) && !error.message.isEmpty, "\(text)")
                #expect(error.excerpt(of: text).count == 2)
            }
        }
        #expect(read > 100 && fitting > 10, "\(read) \(fitting)")
    }

    @Test("numbers of all types compare as numbers, without rounding")
    func numbers() {
        typealias N = FilterNumber
        let sorted: [N] = [
            .double(-.infinity), .double(-1e300), .signed(.min), .double(-1.5), .signed(-1), .double(-0.5), .signed(0),
            .double(0.5), .signed(1), .double(9_007_199_254_740_992), .signed(9_007_199_254_740_993), .signed(.max),
            .double(0x1p63), .unsigned(UInt64(Int64.max) + 2), .unsigned(.max), .double(0x1p64), .double(.infinity),
        ]
        for (i, a) in sorted.enumerated() {
            for (j, b) in sorted.enumerated() {
                #expect(N.order(a, b) == (i < j ? -1 : i == j ? 0 : 1), "\(a) \(b)")
            }
            #expect(N.order(a, .double(.nan)) == nil && N.order(.double(.nan), a) == nil)
        }
    }
}
