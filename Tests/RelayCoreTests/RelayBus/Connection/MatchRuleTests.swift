import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
import RelayWire

@Suite("Match rules at a bus", .heavy) struct MatchRuleTests {
    let fixture: BusFixture
    init() throws { fixture = try BusFixture() }

    /// The rules that the bus has of a connection.
    private func rules(of peer: BusFixture.Peer) async throws -> [String] {
        let call = MethodCall(
            to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus.Debug.Stats",
            member: "GetAllMatchRules")
        let name = peer.name
        return try await peer.connection.call(call).read("a{sas}") { reader in
            var found: [String] = []
            let end = try reader.beginArray(elementAlignment: 8)
            while reader.position < end {
                try reader.align(8)
                let owner = try reader.string()
                let last = try reader.beginArray(elementAlignment: 4)
                while reader.position < last {
                    let rule = try reader.string()
                    if owner == name { found.append(rule) }
                }
            }
            return found
        }
    }
    private func rule(_ sender: BusFixture.Peer, _ member: String? = nil) -> MatchRule {
        MatchRule(sender: sender.name, path: "/a", interface: "org.example.A1", member: member)
    }
    private func add(_ rule: MatchRule, to peer: BusFixture.Peer) async -> Result<BusReply, RelayError> {
        await withCheckedContinuation { continuation in
            peer.connection.addMatch(rule) { continuation.resume(returning: $0) }
        }
    }

    @Test("the bus has a rule once, however often it was asked for, and none after its last use")
    func counted() async throws {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        let rule = rule(sender)
        for _ in 0..<3 { #expect(await add(rule, to: peer).code == nil) }
        #expect(try await rules(of: peer).count == 1)
        #expect(peer.connection.rules == [rule: 3])
        peer.connection.removeMatch(rule)
        peer.connection.removeMatch(rule)
        #expect(try await rules(of: peer).count == 1)
        try sender.connection.send(.test(nil))
        #expect(await eventually { peer.handler.signals.count == 1 })
        peer.connection.removeMatch(rule)
        peer.connection.removeMatch(rule)
        #expect(try await rules(of: peer).isEmpty)
        #expect(peer.connection.rules.isEmpty)
        try sender.connection.send(.test(nil))
        _ = try await sender.connection.call(.toBus("GetId"))
        _ = try await peer.connection.call(.toBus("GetId"))
        #expect(peer.handler.signals.count == 1)
    }
    @Test("every request of a rule is answered, those that come while the first is on its way too") func answers()
        async throws
    {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        let answered = Atomic<Int>(0)
        for _ in 0..<50 { peer.connection.addMatch(rule(sender)) { _ in answered.add(1, ordering: .relaxed) } }
        #expect(await eventually { answered.load(ordering: .relaxed) == 50 })
        #expect(try await rules(of: peer).count == 1)
    }
    @Test("a rule that the bus refuses is an error for all who asked, and leaves nothing behind") func refused()
        async throws
    {
        let peer = try await fixture.peer()
        let bad = MatchRule(sender: "no name", interface: "org.example.A1")
        let errors = Atomic<Int>(0)
        for _ in 0..<5 {
            peer.connection.addMatch(bad) { if $0.code == .invalidArgument { errors.add(1, ordering: .relaxed) } }
        }
        #expect(await eventually { errors.load(ordering: .relaxed) == 5 })
        #expect(peer.connection.rules.isEmpty)
        let unsendable = MatchRule(sender: "a\0b", interface: "org.example.A1")
        #expect(await add(unsendable, to: peer).code == .invalidArgument)
        #expect(peer.connection.rules.isEmpty)
    }
    @Test("a value with an apostrophe matches itself") func apostrophe() async throws {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        let value = "it's, 'quoted', a\\b"
        let rule = MatchRule(sender: sender.name, interface: "org.example.A1", arguments: [(0, value)])
        #expect(await add(rule, to: peer).code == nil)
        for text in ["other", value] {
            try sender.connection.send(.test(nil, "Went", try Signature("s")), body: wire { try? $0.string(text) })
        }
        #expect(await eventually { peer.handler.signals.count == 1 })
        #expect(peer.handler.signals.first?.body == wire { try? $0.string(value) })
    }
    @Test("adding and removing from many threads leaves the bus with what is counted") func threads() async throws {
        let (peer, sender) = (try await fixture.peer(), try await fixture.peer())
        let rules = ["A", "B", "C"].map { rule(sender, $0) }
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<60 {
                        let rule = rules[(number + round) % 3]
                        peer.connection.addMatch(rule)
                        peer.connection.removeMatch(rule)
                    }
                }
            }
        }
        #expect(peer.connection.rules.isEmpty)
        #expect(try await self.rules(of: peer).isEmpty)
    }
    @Test("requests end when the connection does, before and after it, held or released") func endings() async throws {
        let sender = try await fixture.peer()
        var peer: BusFixture.Peer? = try await fixture.peer()
        let failures = Atomic<Int>(0)
        let rule = rule(sender)
        fixture.bus.process.signal(19)  // SIGSTOP: no answer before the end.
        for _ in 0..<3 {
            peer?.connection.addMatch(rule) { if $0.code == .unavailable { failures.add(1, ordering: .relaxed) } }
        }
        peer?.connection.close()
        for _ in 0..<3 {
            peer?.connection.addMatch(rule) { if $0.code == .unavailable { failures.add(1, ordering: .relaxed) } }
        }
        peer = nil
        #expect(await eventually { failures.load(ordering: .relaxed) == 6 })
    }
    @Test("the rule for departures tells of names that go, and the rule for an owner of one name alone")
    func ownership() async throws {
        let peer = try await fixture.peer()
        #expect(await add(.departures, to: peer).code == nil)
        let leaving = try await fixture.peer()
        let name = leaving.name
        leaving.connection.close()
        func departures() -> [RecordingHandler.Signal] {
            peer.handler.all.signals.filter { $0.member == "NameOwnerChanged" }
        }
        #expect(await eventually { departures().count == 1 })
        let arguments = wire { writer in
            for text in [name, name, ""] { try? writer.string(text) }
        }
        #expect(departures().first?.body == arguments && departures().first?.sender == "org.freedesktop.DBus")
        peer.connection.removeMatch(.departures)
        #expect(await add(.owner(of: "org.example.Name1"), to: peer).code == nil)
        let other = try await fixture.peer()
        for text in ["org.example.Name2", "org.example.Name1"] {
            let body = wire {
                try? $0.string(text); $0.uint32(4)
            }
            _ = try await other.connection.call(.toBus("RequestName", try Signature("su"), body: body))
        }
        #expect(await eventually { departures().count == 2 })
        _ = try await peer.connection.call(.toBus("GetId"))
        #expect(departures().count == 2)
    }
}
