import CDBus
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
@testable import RelayCore
import RelayWire

@Suite("Unread replies", .heavy, .tags(.g3, .g4)) struct UnreadRepliesTests {
    private typealias Limits = UnreadReplies
    private static let kibibyte = 1 << 10
    private static let bounds = PeerResource.unreadReplies.bounds
    private static let perPeer = bounds.peer

    /// Sends replies of so many bytes each while the peer's calls are admitted; returns how many.
    private func fill(_ limits: inout Limits, _ peer: String, by bytes: Int = 10 * kibibyte) -> Int {
        var count = 0
        while limits.call(peer) == .admitted, count < 10_000 {
            limits.sent(peer, bytes: bytes - Limits.overhead)
            count += 1
        }
        return count
    }
    private func isRefused(_ verdict: Limits.Verdict) -> Bool { if case .refused = verdict { true } else { false } }

    @Test("G3: a peer that reads nothing has 1 MiB, one refusal, and then no answer") func bound() {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        var verdicts: [Limits.Verdict] = []
        for _ in 1...200 {
            verdicts.append(limits.call("a"))
            if verdicts.last == .admitted { limits.sent("a", bytes: 10 * Self.kibibyte) }
        }
        #expect(verdicts.count { $0 == .admitted } == 102)
        #expect(verdicts.count { isRefused($0) } == 1 && verdicts[102...].first != .ignored)
        #expect(verdicts.last == .ignored)
        #expect(limits.unread(of: "a") < Self.perPeer + 11 * Self.kibibyte)
    }
    @Test("the bus is asked past the reserve, about a peer once at a time") func questions() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        limits.sent("a", bytes: Limits.reserve - Limits.overhead)
        let early = limits.question(about: "a")
        #expect(early == nil)
        limits.sent("a", bytes: 0)
        let due = limits.question(about: "a")
        let question = try #require(due)
        limits.sent("a", bytes: 1_000)
        let second = limits.question(about: "a")
        #expect(second == nil)
        limits.unanswered(question)
        #expect(limits.unread(of: "a") == Limits.reserve + 2 * Limits.overhead + 1_000)
        let again = limits.question(about: "a")
        #expect(again?.sent == question.sent + UInt64(1_000 + Limits.overhead))
    }
    @Test("what the bus did not hold when it was asked has been read; what was sent since counts") func answers() throws
    {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = fill(&limits, "a")
        ledger.arrive("a")
        ledger.identify("a", user: 7)
        let unread = limits.unread(of: "a")
        #expect(limits.call("a") == .ignored, "refused once, within fill")
        let asked = limits.question(about: "a")
        let question = try #require(asked)
        limits.sent("a", bytes: 500)
        limits.answered(question, held: unread + 1)
        #expect(limits.unread(of: "a") == unread + 500 + Limits.overhead, "others send to it, too")
        #expect(limits.call("a") == .ignored)
        let next = limits.question(about: "a")
        limits.answered(try #require(next), held: 300)
        #expect(limits.unread(of: "a") == 300 && ledger.held(.unreadReplies, of: "a") == 300)
        #expect(limits.call("a") == .admitted)
        let refusedAgain = fill(&limits, "a") > 90
        #expect(refusedAgain)
    }
    @Test("G4: what one user's peers leave unread leaves other users theirs, and each peer its reserve") func users() {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        for number in 0..<20 {
            ledger.arrive("1.\(number)")
            _ = limits.call("1.\(number)")
            ledger.identify("1.\(number)", user: 1)
            _ = fill(&limits, "1.\(number)")
        }
        #expect(ledger.held(.unreadReplies, ofUser: 1) < Self.bounds.share + 20 * Limits.reserve)
        ledger.arrive("2.0")
        _ = limits.call("2.0")
        ledger.identify("2.0", user: 2)
        let other = fill(&limits, "2.0")
        #expect(other > 100)
    }
    @Test("G3: all together have 24 MiB, and each peer its reserve") func together() {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        for number in 0..<60 {
            ledger.arrive("\(number)")
            ledger.identify("\(number)", user: UInt32(number))
            _ = fill(&limits, "\(number)")
        }
        let all = ledger.held(.unreadReplies)
        #expect(all > Self.bounds.total && all < Self.bounds.total + 60 * Limits.reserve + Self.perPeer)
        let late = fill(&limits, "late", by: 100)
        #expect(late >= Limits.reserve / 100)
    }
    @Test("a departed peer counts for nothing, nor does what is sent to it later") func departure() throws {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = fill(&limits, "a")
        let asked = limits.question(about: "a")
        ledger.identify("a", user: 1)
        limits.depart("a")
        limits.answered(try #require(asked), held: 0)
        limits.sent("a", bytes: 1_000)
        #expect(limits.peerCount == 0 && ledger.isEmpty)
        limits.depart("a")
    }
    @Test("a reply that can wait goes when there is room; where nobody knows, at once") func waiting() {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        _ = limits.call("a")
        #expect(limits.admits("a", bytes: Self.perPeer))
        _ = fill(&limits, "a")
        #expect(!limits.admits("a", bytes: 1_000))
        limits.isKnowable = false
        #expect(limits.admits("a", bytes: 1_000))
        #expect(limits.call("a") == .admitted)
        let question = limits.question(about: "a")
        #expect(question == nil)
    }
    @Test("whom to ask when somebody waits: those with most unread first, each once") func sweep() {
        let ledger = PeerLedger()
        var limits = Limits(ledger)
        for (name, bytes) in [("a", 3_000), ("b", 5_000), ("c", 500), ("d", 4_000)] {
            _ = limits.call(name)
            limits.sent(name, bytes: bytes)
        }
        let first = limits.questions(atMost: 2)
        #expect(first.map(\.peer) == ["b", "d"])
        let second = limits.questions(atMost: 2)
        #expect(second.map(\.peer) == ["a"])
    }

    // MARK: With a bus

    private static let introspectable = "org.freedesktop.DBus.Introspectable"

    private func held(
        for peer: SilentPeer, _ kind: BusFiguresTests.Kind, _ stranger: BusStranger
    ) async throws -> Int {
        let source: ReplySender.UnreadSource = kind == .daemon ? .connection : .peers
        let question = try BusFigures.question(to: source, about: peer.name)
        return try BusFigures.held(for: peer.name, try await stranger.connection.call(question), from: source)
    }
    private func echo(_ text: String, _ flags: MessageHeader.Flags = []) throws -> (MessageHeader, [UInt8]) {
        var body = WireWriter()
        try body.string(text)
        let header = MessageHeader.methodCall(
            path: Desk.path, interface: Desk1.name, member: "Echo", destination: Desk.name,
            signature: try Signature("s"), flags: flags)
        return (header, body.bytes)
    }

    @Test(
        "G4: who reads no answer gets 1 MiB of them; others are answered, and so is it when it has read",
        arguments: BusFiguresTests.Kind.allCases)
    func flood(_ kind: BusFiguresTests.Kind) async throws {
        // With its built-in limits dbus-daemon lets a caller wait for 128 replies only.
        let bus = kind == .daemon ? try PrivateBus(limits: .session) : try kind.bus()
        let desk = try await Desk(bus)
        let silent = try SilentPeer(socket: "\(bus.directory)/bus")
        let header = MessageHeader.methodCall(
            path: Desk.path, interface: Self.introspectable, member: "Introspect", destination: Desk.name)
        for _ in 0..<1_500 { try silent.send(header) }
        let (last, text) = try echo("last", .noReplyExpected)
        try silent.send(last, text)
        // Behind all others.
        #expect(await eventually { desk.notes.contains("echo last") })
        let other = try await BusStranger.join(bus.bus)
        _ = try await other.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("other")])
        let held = try await held(for: silent, kind, other)
        #expect(held < 2 * Self.perPeer, "of 1,500 answers")
        #expect(await eventually { 1...3 ~= desk.notices.all(of: .limitsExceeded).count })
        #expect(desk.notices.all.contains { $0.message.contains(silent.name) })
        let core = desk.service.core
        #expect(
            await eventually {
                silent.drain()
                return core.replies.unread.withLock { $0.unread(of: silent.name) } < Limits.reserve
            })
        let (again, words) = try echo("again")
        try silent.send(again, words)
        #expect(await eventually { desk.notes.contains("echo again") })
        try await desk.stop()
    }
    @Test(
        "G4: whatever is called, its answers count: of the stream, of properties, and refusals",
        arguments: [
            (Stream1.name, "Schemas", nil), ("org.freedesktop.DBus.Properties", "GetAll", Desk1.name),
            (Desk1.name, "NoSuchMethod", nil), ("org.freedesktop.DBus.Peer", "GetMachineId", nil),
        ] as [(String, String, String?)])
    func others(_ interface: String, _ member: String, _ argument: String?) async throws {
        let bus = try PrivateBus(limits: .session)
        let desk = try await Desk(bus)
        let silent = try SilentPeer(socket: "\(bus.directory)/bus")
        var body = WireWriter()
        if let argument { try body.string(argument) }
        let header = MessageHeader.methodCall(
            path: Desk.path, interface: interface, member: member, destination: Desk.name,
            signature: argument == nil ? .empty : try Signature("s"))
        let core = desk.service.core
        var sent = 0
        while core.replies.ignoredCalls.load(ordering: .relaxed) == 0 && sent < 100_000 {
            try silent.send(header, body.bytes)
            sent += 1
        }
        #expect(await eventually { core.replies.ignoredCalls.load(ordering: .relaxed) > 0 }, "of \(sent) calls")
        let other = try await BusStranger.join(bus.bus)
        #expect(try await held(for: silent, .daemon, other) < 3 * Self.perPeer, "of \(sent) answers")
        let answer = try await other.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("other")])
        #expect(answer == [.string("other")])
        try await desk.stop()
    }
    @Test(
        "G4: the replies of commands wait for their reader; others are answered",
        arguments: BusFiguresTests.Kind.allCases)
    func replies(_ kind: BusFiguresTests.Kind) async throws {
        let bus = try kind.bus()
        let desk = try await Desk(bus)
        let silent = try SilentPeer(socket: "\(bus.directory)/bus")
        var body = WireWriter()
        body.int32(900_000)
        let fill = MessageHeader.methodCall(
            path: Desk.path, interface: Desk1.name, member: "Fill", destination: Desk.name,
            signature: try Signature("i"))
        var number = WireWriter()
        number.int64(1)
        let wait = MessageHeader.methodCall(
            path: Desk.path, interface: Desk1.name, member: "Wait", destination: Desk.name,
            signature: try Signature("x"))
        // All calls are there before the first reply: one that comes behind two of them is refused.
        try silent.send(wait, number.bytes)
        for _ in 1...5 { try silent.send(fill, body.bytes) }
        let (last, text) = try echo("last", .noReplyExpected)
        try silent.send(last, text)
        let core = desk.service.core
        #expect(await eventually { core.queues.count == 7 })
        await desk.open(1)
        #expect(await eventually { core.loop.withTurn { core.replies.state.onLoop.held.count == 1 } })
        let other = try await BusStranger.join(bus.bus)
        _ = try await other.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("other")])
        #expect(desk.notes == ["wait 1", "done 1", "echo other"])
        #expect(try await held(for: silent, kind, other) < 3 << 20, "of 4.5 MB")
        #expect(
            await eventually {
                silent.drain()
                return desk.notes.contains("echo last")
            })
        #expect(core.loop.withTurn { core.replies.state.onLoop.held.isEmpty })
        try await desk.stop()
    }
    @Test("a client that only calls and waits, and looks at nothing else, never notices", arguments: [true, false])
    func synchronous(busTells: Bool) async throws {
        let deny = "<policy context=\"mandatory\"><deny send_interface=\"org.freedesktop.DBus.Debug.Stats\"/></policy>"
        let bus = try PrivateBus(limits: .builtIn, policy: busTells ? "" : deny)
        let desk = try await Desk(bus)
        let peer = try RawPeer(bus.address)
        var bytes = 0
        while bytes < 3 << 20 {
            let call = dbus_message_new_method_call(Desk.name, Desk.path, Self.introspectable, "Introspect")
            defer { dbus_message_unref(call) }
            let reply = try #require(dbus_connection_send_with_reply_and_block(peer.pointer, call, 60_000, nil))
            guard let received = ReceivedMessage(MessageHandle(adopting: reply)) else { break }
            bytes += received.withBody { $0.count }
        }
        #expect(desk.notices.all(of: .limitsExceeded).isEmpty)
        #expect(await eventually { desk.notices.all(of: .unreadUnknown).count == (busTells ? 0 : 1) })
        try await desk.stop()
    }
}
