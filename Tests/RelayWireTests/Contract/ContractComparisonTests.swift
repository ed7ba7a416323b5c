import TestTraits
import Testing

@testable import RelayWire

@Suite("Two versions of a contract", .tags(.g2)) struct ContractComparisonTests {
    private static func text(_ body: String, _ durability: String = "durable") throws -> ContractText {
        let head = "relay-contract 1\ninterface org.example.A1\n\(durability)\nrequires same-user\n"
        return try ContractText(parsing: head + body)
    }
    /// Who meets what: with a '!' where it breaks.
    private static func parties(_ changes: [ContractChange]) -> [String] {
        Set(changes.flatMap(\.effects).map { ($0.breaks ? "!" : "") + $0.party.rawValue }).sorted()
    }
    private static let all = ["!new front ends", "!old front ends", "!the journal"]
    private static let old = ["!old front ends"]
    private static let later = ["!new front ends", "!the journal"]
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String, old: String, new: String, parties: [String]
        init(_ name: String, _ old: String, _ new: String, _ parties: [String] = []) {
            (self.name, self.old, self.new, self.parties) = (name, old, new, parties)
        }
        var testDescription: String { name }
    }
    private static func event(_ name: String, _ old: [String], _ new: [String], _ parties: [String] = []) -> Change {
        func lines(_ fields: [String]) -> String { "event E\n" + fields.map { "    \($0)\n" }.joined() }
        return Change(name, lines(old), lines(new), parties)
    }
    private static func command(_ name: String, _ old: [String], _ new: [String], _ parties: [String] = []) -> Change {
        func lines(_ fields: [String]) -> String { "command C\n" + fields.map { "    \($0)\n" }.joined() }
        return Change(name, lines(old), lines(new), parties)
    }

    static let ofEvents: [Change] = [
        event("reordered", ["field a x", "field b s"], ["field b s", "field a x"]),
        event("optional field added", ["field a x"], ["field a x", "field b ?s"]),
        event("optional field removed", ["field a x", "field b ?s"], ["field a x"]),
        event("required field added", ["field a x"], ["field a x", "field b s"], later),
        event("required field removed", ["field a x", "field b s"], ["field a x"], old),
        event("retyped", ["field a x"], ["field a t"], all),
        event("made optional", ["field a x"], ["field a ?x"], all),
        event("renamed", ["field a x"], ["field b x"], all),
        event("renamed, with its former name", ["field a x"], ["field b|a x"]),
        event("a former name dropped", ["field b|a x"], ["field b x"], ["!the journal"]),
        event("a nested optional field added", ["field a (b:x)"], ["field a (b:x,c:?s)"]),
        event("a nested field renamed", ["field a a(b:x)"], ["field a a(c|b:x)"]),
        event("a nested field retyped", ["field a a{s(b:x)}"], ["field a a{s(b:s)}"], all),
        event(
            "a case added", ["field a i", "    case b 1"], ["field a i", "    case b 1", "    case c 2"],
            ["old front ends"]),
        event("a case removed", ["field a i", "    case b 1", "    case c 2"], ["field a i", "    case b 1"], later),
        event("a case renamed", ["field a i", "    case b 1"], ["field a i", "    case c 1"]),
        event(
            "a nested case removed", ["field a a(b:i)", "    case b.c 1", "    case b.d 2"],
            ["field a a(b:i)", "    case b.c 1"], later),
        event("an enum's case added", ["field a [b]"], ["field a [b,c(d:x)]"], ["old front ends"]),
        event("an enum's case removed", ["field a a[b,c(d:x)]"], ["field a a[b]"], later),
        event("an enum's case changed", ["field a ?[b,c(d:x)]"], ["field a ?[b,c(d:s)]"], all),
        event("an optional field added to a case", ["field a [c(d:x)]"], ["field a [c(d:x,e:?s)]"]),
        Change("event added", "", "event E\n    field a x\n"),
        Change("event removed", "event E\n    field a x\n", "", old),
        Change("event becomes a command", "event E\n", "command E\n", old),
        Change("event becomes a document", "event E\n    field a x\n", "document E\n    field a x\n"),
        Change("fixed layout", "event E\n    field a x\n", "event E fixed\n    field a x\n"),
    ]
    static let ofOthers: [Change] = [
        command("arguments reordered", ["in a x", "in b s"], ["in b s", "in a x"]),
        command("optional argument added", ["in a x"], ["in b ?s", "in a x"]),
        command("optional argument removed", ["in a x", "in b ?s"], ["in a x"]),
        command("required argument added", ["in a x"], ["in a x", "in b s"], ["!new front ends", "!old front ends"]),
        command(
            "required argument removed", ["in a x", "in b s"], ["in a x"], ["!new front ends", "!old front ends"]),
        command("argument retyped", ["in a x"], ["in a s"], ["!new front ends", "!old front ends"]),
        command("argument renamed", ["in a x"], ["in b|a x"]),
        command("argument's former name dropped", ["in b|a x"], ["in b x"], old),
        command("case of an argument added", ["in a [b]"], ["in a [b,c]"], ["new front ends"]),
        command("case of an argument removed", ["in a [b,c]"], ["in a [b]"], old),
        command("required field added to the reply", ["out a x"], ["out a x", "out b s"], ["!new front ends"]),
        command("required field removed from the reply", ["out a x", "out b s"], ["out a x"], old),
        command("optional field added to the reply", ["out a x"], ["out a x", "out b ?s"]),
        command("case added to the reply", ["out a [b]"], ["out a [b,c]"], ["old front ends"]),
        command("case removed from the reply", ["out a [b,c]"], ["out a [b]"], ["!new front ends"]),
        command("kept reply changed", ["in k ?s", "key k", "out a x"], ["in k ?s", "key k", "out a s"], all),
        command("progress added", [], ["progress a x"]),
        command("progress removed", ["progress a x"], []),
        command("progress changed", ["progress a x"], ["progress a s"], ["!new front ends", "!old front ends"]),
        command("fewer permitted", [], ["requires user \"a\""], old),
        command("fewer of both permitted", ["requires user \"a\" or group \"b\""], ["requires user \"a\""], old),
        command("more permitted", ["requires user \"a\""], ["requires user \"a\" or same-user"]),
        command("no longer cancellable", ["cancellable"], [], ["old front ends"]),
        command("cancellable", [], ["cancellable"]),
        command("key dropped", ["in k ?s", "key k"], ["in k ?s"], old),
        command("key added", [], ["in k ?s", "key k"]),
        command("another key", ["in k ?s", "in l ?s", "key k"], ["in k ?s", "in l ?s", "key l"], old),
        command("refusal added", ["refuses A"], ["refuses A", "refuses B"], ["old front ends"]),
        command("refusal removed", ["refuses A", "refuses B"], ["refuses A"], ["new front ends"]),
        command("refusals unknown", ["refuses *"], ["refuses *", "refuses B"]),
        Change("command added", "", "command C\n"), Change("command removed", "command C\n", "", old),
        Change("document retyped", "document D\n    field a x\n", "document D\n    field a s\n", all),
        Change(
            "document's optional field", "document D editable\n    field a x\n",
            "document D editable\n    field a x\n    field b ?s\n"),
        Change(
            "document's required field", "document D editable\n    field a x\n",
            "document D editable\n    field a x\n    field b s\n", later),
        Change(
            "document's field removed", "document D editable\n    field a x\n    field b s\n",
            "document D editable\n    field a x\n", old),
        Change(
            "document no longer editable", "document D editable\n    field a x\n", "document D\n    field a x\n", old),
        Change("document editable", "document D\n    field a x\n", "document D editable\n    field a x\n"),
        Change("document becomes an event", "document D\n    field a x\n", "event D\n    field a x\n", old),
        Change(
            "fewer may submit", "document D editable\n    field a x\n",
            "document D editable\n    field a x\n    requires user \"a\"\n", old),
    ]
    @Test("each change of an event has its consequences", arguments: ofEvents) func events(_ change: Change) throws {
        try check(change)
    }
    @Test("each change of a command or a document has its consequences", arguments: ofOthers)
    func others(_ change: Change) throws { try check(change) }
    private func check(_ change: Change) throws {
        let changes = try Self.text(change.old).changes(to: Self.text(change.new))
        #expect(Self.parties(changes) == change.parties, "\(changes)")
        #expect(!changes.isEmpty && changes.allSatisfy { !$0.lines.isEmpty })
        #expect(changes.contains(where: \.breaks) == change.parties.contains { $0.hasPrefix("!") })
    }
    @Test("the same contract has no changes, and in a volatile one there is no journal", arguments: ofEvents + ofOthers)
    func same(_ change: Change) throws {
        #expect(try Self.text(change.old).changes(to: Self.text(change.old)) == [])
        let changes = try Self.text(change.old, "volatile").changes(to: Self.text(change.new, "volatile"))
        let expected = change.parties.filter { !$0.contains("journal") || change.name.hasPrefix("kept") }
        #expect(Self.parties(changes) == expected)
    }
    @Test("durability and requirement are the interface's") func interface() throws {
        let durable = try Self.text("")
        let changes = try durable.changes(to: Self.text("", "volatile"))
        #expect(
            changes.map(\.member) == ["org.example.A1"] && Self.parties(changes) == ["!old front ends", "!the journal"])
        #expect(changes.first?.lines == ["- durable", "+ volatile"])
        #expect(try !Self.text("", "volatile").changes(to: durable).contains(where: \.breaks))
        let open = try ContractText(parsing: durable.text.replacing("same-user", with: "anyone"))
        #expect(try !durable.changes(to: open).contains(where: \.breaks))
        #expect(try Self.parties(open.changes(to: durable)) == Self.old)
        let other = try ContractText(parsing: durable.text.replacing("A1", with: "A2"))
        #expect(throws: RelayError.self) { try durable.changes(to: other) }
    }
    @Test("a change says what differs, for whom, and what to do") func description() throws {
        let old = try Self.text("event E\n    field a x\n    field b s\n    field c s\n")
        let changes = try old.changes(to: Self.text("event E\n    field a x\n    field b t\n    field d s\n"))
        let text = try #require(changes.first?.description)
        #expect(text.hasPrefix("event E is changed:\n  - field b s\n  - field c s\n  + field b t\n  + field d s\n"))
        // Each field that breaks is named.
        for field in ["b", "c"] {
            #expect(text.contains("breaks old front ends: each E is a gap: E, field '\(field)'"))
        }
        for field in ["b", "d"] {
            #expect(text.contains("breaks new front ends: each E is a gap: E, field '\(field)'"))
        }
        #expect(text.contains("breaks the journal"))
    }
    @Test("a journal is compared by what it keeps") func stored() throws {
        let new = try Self.text(
            "event A\n    field a x\nevent B\n    field b|c s\n    field d i\n        case e 1\nevent N\n")
        func fields(_ texts: String...) throws -> [WireField] { try texts.map { try WireField(parsing: $0) } }
        let stored = [
            "A": StoredEvent(present: try fields("a:x"), kept: [try fields("a:x")]),
            "B": StoredEvent(present: try fields("b:s", "d:i"), kept: [try fields("c:s", "d:i"), try fields("d:i")]),
            "G": StoredEvent(present: [], kept: []),
        ]
        let changes = new.changes(fromStored: stored)
        #expect(changes.map { "\($0.kind.rawValue) \($0.member)" } == ["changed B", "removed G", "added N"])
        // One of three versions lacks a field that it needs.
        #expect(changes[0].effects.map(\.party) == [.journal] && changes[0].breaks)
        let same = new.changes(fromStored: stored.filter { $0.key == "A" })
        #expect(same.map(\.kind) == [.added, .added])
    }
}
