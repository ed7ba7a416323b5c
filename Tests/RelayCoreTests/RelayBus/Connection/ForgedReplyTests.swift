import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// A session bus passes replies that nobody asked for. Some peer has a call's serial: it saw the call as a monitor, or
/// was asked before.
@Suite("Replies of peers that were not asked", .heavy, .tags(.g7)) struct ForgedReplyTests {
    private static let name = "org.example.Wanted"
    private let fixture: BusFixture
    init() throws { fixture = try BusFixture() }

    /// A call that a test has sent, and how it ended.
    private final class SentCall: Sendable {
        let serial: UInt32
        private let result = Mutex<Result<BusReply, RelayError>?>(nil)

        init(_ peer: BusFixture.Peer, to name: String = ForgedReplyTests.name) {
            let ended = Mutex<(@Sendable (Result<BusReply, RelayError>) -> Void)?>(nil)
            let early = Mutex<Result<BusReply, RelayError>?>(nil)
            serial = peer.connection.send(.test(name), timeout: .seconds(300)) { result in
                if let ended = ended.withLock({ $0 }) { ended(result) } else { early.withLock { $0 = result } }
            }
            ended.withLock { $0 = { [weak self] result in self?.result.withLock { $0 = result } } }
            if let known = early.withLock({ $0 }) { result.withLock { $0 = known } }
        }
        var sender: String? { try? result.withLock { $0 }?.get().sender }
        var isOver: Bool { result.withLock { $0 } != nil }
    }
    private func own(
        _ peer: BusFixture.Peer, _ method: String = "RequestName", of name: String = Self.name
    ) async throws {
        let isRequest = method == "RequestName"
        let body = wire { writer in
            try? writer.string(name)
            if isRequest { writer.uint32(4) }
        }
        let call = MethodCall.toBus(method, try Signature(isRequest ? "su" : "s"), body: body)
        #expect(try await peer.connection.call(call).read("u") { try $0.uint32() } == 1)
    }
    private func forge(_ serial: UInt32, by forger: BusFixture.Peer, to caller: BusFixture.Peer) throws {
        try forger.connection.send(.methodReturn(to: serial, destination: caller.name))
    }
    /// What both have sent before this has arrived.
    private func roundTrip(_ sender: BusFixture.Peer, _ receiver: BusFixture.Peer) async throws {
        _ = try await sender.connection.call(.toBus("GetId"))
        _ = try await receiver.connection.call(.toBus("GetId"))
    }
    /// The call has come to its callee.
    private func arrived(_ count: Int = 1, at callee: BusFixture.Peer) async -> IncomingCall? {
        #expect(await eventually { callee.handler.all.calls.count == count })
        return callee.handler.all.calls.last
    }
    /// The bus announces no more owners of the name to this peer, as if it had no room.
    private func deafen(_ peer: BusFixture.Peer) async throws {
        let rule = wire { try? $0.string(MatchRule.owner(of: Self.name).description) }
        _ = try await peer.connection.call(.toBus("RemoveMatch", Signature("s"), body: rule))
    }

    @Test("a former owner that left before the call was sent cannot answer it, though it has the serial")
    func former() async throws {
        let (caller, former, owner) = (try await fixture.peer(), try await fixture.peer(), try await fixture.peer())
        try await own(former)
        let first = SentCall(caller)
        former.connection.reply(to: try #require(await arrived(at: former)))
        #expect(await eventually { first.sender == former.name })
        try await own(former, "ReleaseName")
        try await own(owner)
        let second = SentCall(caller)
        let call = try #require(await arrived(at: owner))
        // Before the caller has asked, and after it knows.
        for _ in 0..<3 {
            try forge(second.serial, by: former, to: caller)
            try await roundTrip(former, caller)
        }
        // It has arrived, three times: a session bus passes it.
        #expect(!second.isOver && caller.connection.strayReplies >= 2)
        owner.connection.reply(to: call)
        #expect(await eventually { second.sender == owner.name })
    }
    @Test("an owner that gives up the name while a call is on its way may answer it") func leaving() async throws {
        let (caller, owner) = (try await fixture.peer(), try await fixture.peer())
        try await own(owner)
        let call = SentCall(caller)
        let incoming = try #require(await arrived(at: owner))
        try await own(owner, "ReleaseName")
        try await roundTrip(owner, caller)
        owner.connection.reply(to: incoming)
        #expect(await eventually { call.sender == owner.name })
        #expect(caller.connection.strayReplies == 0)
    }
    @Test("a reply of an owner that was never announced is taken once the bus was asked") func unheard() async throws {
        let (caller, first, owner) = (try await fixture.peer(), try await fixture.peer(), try await fixture.peer())
        try await own(first)
        let before = SentCall(caller)
        first.connection.reply(to: try #require(await arrived(at: first)))
        #expect(await eventually { before.sender == first.name })
        try await deafen(caller)
        try await own(first, "ReleaseName")
        try await own(owner)
        let call = SentCall(caller)
        owner.connection.reply(to: try #require(await arrived(at: owner)))
        #expect(await eventually { call.sender == owner.name })
        #expect(caller.connection.strayReplies == 0)
    }
    @Test("a stranger's reply is held until the bus was asked, then dropped; the owner's reply ends the call")
    func stranger() async throws {
        let (caller, owner, forger) = (try await fixture.peer(), try await fixture.peer(), try await fixture.peer())
        try await own(owner)
        let call = SentCall(caller)
        let incoming = try #require(await arrived(at: owner))
        for _ in 0..<5 {
            try forge(call.serial, by: forger, to: caller)
            try await roundTrip(forger, caller)
            #expect(!call.isOver)
        }
        owner.connection.reply(to: incoming)
        #expect(await eventually { call.sender == owner.name })
    }
    @Test("a call that nobody was there for is answered by the service that the bus starts for it, or by the bus")
    func nobody() async throws {
        let (caller, forger) = (try await fixture.peer(), try await fixture.peer())
        let call = SentCall(caller)
        try forge(call.serial, by: forger, to: caller)
        // ServiceUnknown, of the bus.
        #expect(await eventually { call.isOver })
        #expect(call.sender == nil)
    }
    @Test("a relay's command that the bus may start a service for takes no reply of a former owner") func relay()
        async throws
    {
        let bus = fixture.bus
        let former = try await fixture.peer()
        try await own(former, of: Desk.name)
        let relay = try EventRelay(following: Desk.name, on: bus.bus, interfaces: Desk1.self)
        relay.activate()
        let core = relay.follower.core
        #expect(await eventually { core.loop.withTurn { core.owner.name } == former.name })
        try await own(former, "ReleaseName", of: Desk.name)
        let owner = try await fixture.peer()
        try await own(owner, of: Desk.name)
        #expect(await eventually { core.loop.withTurn { core.owner.name } == owner.name })
        let ticket = CallTicket()
        let ended = Mutex<Result<BusReply, RelayError>?>(nil)
        let call = MethodCall(
            to: Desk.name, path: Stream1.path(of: Desk1.name), interface: Desk1.name, member: "Restricted")
        core.calls.begin(call, timeout: .seconds(300), ticket) { result in ended.withLock { $0 = result } }
        func incoming() -> IncomingCall? { owner.handler.all.calls.first { $0.member == "Restricted" } }
        #expect(await eventually { incoming() != nil })
        let (serial, name) = try core.loop.withTurn {
            (try #require(ticket.serial), try #require(core.owner.connection?.uniqueName))
        }
        #expect(ticket.destination == Desk.name)
        for _ in 0..<3 {
            try former.connection.send(.methodReturn(to: serial, destination: name))
            _ = try await former.connection.call(.toBus("GetId"))
        }
        #expect(await eventually { core.loop.withTurn { core.owner.connection?.strayReplies ?? 0 } >= 2 })
        #expect(ended.withLock { $0 } == nil)
        owner.connection.reply(to: try #require(incoming()))
        #expect(await eventually { ended.withLock { $0 } != nil })
        #expect((try? ended.withLock { $0 }?.get().sender) == owner.name)
        relay.invalidate()
    }
}
