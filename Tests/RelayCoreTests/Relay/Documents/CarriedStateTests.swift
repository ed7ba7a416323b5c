import Testing

@testable import RelayCore
import RelayWire

@Suite("A document's state over fields that the editor does not know") struct CarriedStateTests {
    private func fields(_ texts: [String]) throws -> [WireField] { try texts.map { try WireField(parsing: $0) } }
    private func body(_ values: [DBusValue]) throws -> [UInt8] {
        var writer = WireWriter()
        try DBusValue.encode(values, into: &writer)
        return writer.bytes
    }
    private func merged(
        _ ours: [String], _ state: [DBusValue], over theirs: [String], _ base: [DBusValue], sentAs sent: [String]? = nil
    ) throws -> [DBusValue] {
        let carried = CarriedState(document: "Shelf", ours: try fields(ours), theirs: try fields(theirs))
        return try carried.merged(try body(state), base: try body(base), try fields(sent ?? theirs))
    }
    private func refusal(_ body: () throws -> [DBusValue]) -> String? {
        do {
            return "\(try body())"
        } catch {
            return (error as? RelayError).map { $0.code == .schemaMismatch && !$0.mayHaveRun ? $0.message : "\($0)" }
        }
    }
    private let none = DBusValue.array(.string, [])
    private func some(_ text: String) -> DBusValue { .array(.string, [.string(text)]) }

    @Test("what the editor does not know stays as it was: optional and required fields, in any order") func topLevel()
        throws
    {
        let theirs = ["owner:s", "title:s", "note:?s"]
        #expect(
            try merged(["title:s"], [.string("new")], over: theirs, [.string("me"), .string("old"), some("n")])
                == [.string("me"), .string("new"), some("n")])
        #expect(
            try merged(["title:s"], [.string("new")], over: theirs, [.string("me"), .string("old"), none])
                == [.string("me"), .string("new"), none])
        #expect(
            try merged(
                ["note:?s", "title:s"], [none, .string("x")], over: theirs, [.string("me"), .string("old"), some("n")])
                == [.string("me"), .string("x"), none])
    }
    @Test("a field that was renamed is the editor's own") func renamed() throws {
        #expect(
            try merged(
                ["title:s"], [.string("new")], over: ["owner:s", "label|title:s"], [.string("me"), .string("old")]
            ) == [.string("me"), .string("new")])
        // As an earlier release of the service wrote it.
        #expect(
            try merged(
                ["title:s"], [.string("new")], over: ["note:?s", "label|title:s"], [.string("old")],
                sentAs: ["title:s"]) == [none, .string("new")])
    }
    private static let boxes = "boxes:a(title:s)"
    private static let laterBoxes = "boxes:a(weight:?s,title:s)"
    private func box(_ title: String) -> DBusValue { .structure([.string(title)]) }
    private func box(_ title: String, _ weight: DBusValue) -> DBusValue { .structure([weight, .string(title)]) }
    private func list(_ boxes: [DBusValue]) -> DBusValue { .array(.structure([.string]), boxes) }
    private func laterList(_ boxes: [DBusValue]) -> DBusValue {
        .array(.structure([.array(.string), .string]), boxes)
    }

    @Test("a field with unknown parts that is not changed stays as it was, parts and all") func unchanged() throws {
        let base = laterList([box("a", some("1")), box("b", none)])
        #expect(
            try merged(
                ["title:s", Self.boxes], [.string("new"), list([box("a"), box("b")])],
                over: ["title:s", Self.laterBoxes], [.string("old"), base]) == [.string("new"), base])
    }
    @Test("a change beside unknown parts that have values is refused, with their path") func changed() throws {
        let text = refusal {
            try merged(
                [Self.boxes], [list([box("a"), box("c")])], over: [Self.laterBoxes],
                [laterList([box("a", some("1")), box("b", none)])])
        }
        #expect(text?.contains("boxes[].weight") == true, "\(text ?? "")")
        #expect(text?.contains("update this program") == true, "\(text ?? "")")
        // Without values nothing is lost.
        #expect(
            try merged(
                [Self.boxes], [list([box("c")])], over: [Self.laterBoxes],
                [laterList([box("a", none), box("b", none)])]) == [laterList([box("c", none)])])
    }
    @Test("a change beside a required part that is not known is refused") func requiredPart() throws {
        let theirs = "boxes:a(weight:s,title:s)"
        func later(_ boxes: [DBusValue]) -> DBusValue { .array(.structure([.string, .string]), boxes) }
        let one = DBusValue.structure([.string("1"), .string("a")])
        let text = refusal {
            try merged([Self.boxes], [list([box("c")])], over: [theirs], [later([one])])
        }
        #expect(text?.contains("weight") == true, "\(text ?? "")")
        #expect(
            try merged(
                ["n:x", Self.boxes], [.int64(2), list([box("a")])], over: ["n:x", theirs], [.int64(1), later([one])]
            ) == [.int64(2), later([one])])
    }
    @Test("what the service does not know is refused if it has a value, and left out if not") func oldService() throws {
        #expect(
            try merged(["title:s", "note:?s"], [.string("new"), none], over: ["title:s"], [.string("old")])
                == [.string("new")])
        for (field, value) in [("note:?s", some("x")), ("note:s", .string("x"))] {
            let text = refusal {
                try merged(["title:s", field], [.string("new"), value], over: ["title:s"], [.string("old")])
            }
            #expect(text?.contains("note") == true, "\(text ?? "")")
        }
        let text = refusal { try merged(["title:x"], [.int64(1)], over: ["title:s"], [.string("old")]) }
        #expect(text?.contains("title") == true)
    }
}
