import Synchronization
import Testing

@testable import RelayBus

@Suite("Counted match rules") struct MatchTableTests {
    private let rule = MatchRule(sender: ":1.1", interface: "a.b")
    private let reply = BusReply(sender: "org.freedesktop.DBus", signature: "", body: [])

    private func add(_ table: inout MatchTable) -> UInt64? {
        if case .ask(let request) = table.add(rule, { _ in }) { request } else { nil }
    }

    @Test("asks the bus once, and takes the rule back with the last use") func counts() throws {
        var table = MatchTable()
        let request = try #require(add(&table))
        #expect(add(&table) == nil)
        #expect(table.answered(request, rule, reply).count == 2)
        #expect(add(&table) == nil)
        #expect(table.counts == [rule: 3])
        #expect(
            [table.remove(rule), table.remove(rule), table.remove(rule), table.remove(rule)] == [
                false, false, true, false,
            ])
        #expect(table.counts.isEmpty)
        #expect(add(&table) != nil)
    }
    @Test("a refused rule is nobody's, and the next one asks again") func refusal() throws {
        var table = MatchTable()
        let request = try #require(add(&table))
        #expect(add(&table) == nil)
        #expect(table.answered(request, rule, nil).count == 2)
        #expect(table.counts.isEmpty)
        #expect(table.remove(rule) == false)
        #expect(add(&table) != nil)
    }
    @Test("an answer to a request that was taken back tells its caller, and leaves the new request alone")
    func overtaken() throws {
        var table = MatchTable()
        let first = try #require(add(&table))
        #expect(table.remove(rule) == true)
        let second = try #require(add(&table))
        #expect(first != second)
        #expect(table.answered(first, rule, nil).count == 1)
        #expect(table.counts == [rule: 1])
        #expect(table.answered(first, rule, nil).count == 0)
        #expect(table.answered(second, rule, reply).count == 1)
    }
    @Test("closing hands back all who wait") func closing() throws {
        var table = MatchTable()
        _ = add(&table)
        _ = add(&table)
        #expect(table.close().count == 2)
        #expect(table.close().count == 0 && table.counts.isEmpty)
    }
    @Test("an apostrophe in a value does not end it") func quoting() {
        let rule = MatchRule(sender: ":1.1", interface: "a.b", arguments: [(0, "it's"), (2, "")])
        #expect(rule.description == #"type='signal',sender=':1.1',interface='a.b',arg0='it'\''s',arg2=''"#)
        let hidden = MatchRule(sender: ":1.1", interface: "a.b", arguments: [(0, "'\u{301}")])
        #expect(hidden.description.unicodeScalars.contains("\\"))
    }
}
