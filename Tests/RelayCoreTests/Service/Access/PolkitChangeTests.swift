import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

private enum Twice1: EventInterface {
    static let name = "org.example.Twice1"
    static let durability = Volatile()
    static let ringCapacity = 64 << 10
    static var requirement: PeerRequirement {
        .polkit(action: "org.example.twice.first") && .polkit(action: "org.example.twice.second")
    }
    static var contract: Contract<Self> { Doubled.self }
    struct Doubled: DomainEvent {
        typealias Interface = Twice1
        var number: Int64
    }
}

/// polkit changes its mind while it is asked about a call.
@Suite("Calls that polkit's changes meet", .heavy, .tags(.g7)) struct PolkitChangeTests {
    private static let name = "org.example.Twice"
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    private func service() async throws -> EventService {
        let service = try EventService(Self.name, system, [Twice1.self], journal: nil) { _ in }
        try await service.start()
        return service
    }
    private func openRing(_ peer: BusStranger) async -> RemoteError? {
        await peer.refusal(Self.name, Stream1.path(of: Twice1.name), Stream1.name, "OpenRing")
    }
    private func changes(_ service: EventService) -> UInt64 {
        let core = service.core
        return core.loop.withTurn { core.permissions.state.onLoop.changes }
    }

    @Test("G7: an authorisation that is withdrawn before the next action is answered permits nothing")
    func betweenActions() async throws {
        let authority = try await FakeAuthority.join(system) { $0.action.hasSuffix("first") ? .yes : .later }
        let service = try await service()
        let peer = try await BusStranger.join(system)
        async let refusal = openRing(peer)
        #expect(await eventually { authority.waiting.count == 1 })
        authority.rule { $0.action.hasSuffix("first") ? .no : .yes }
        try authority.announceChange()
        #expect(await eventually { changes(service) == 1 })
        authority.settle(.yes)
        #expect(await refusal?.name == ErrorNames.name(for: .notPermitted))
        #expect(
            authority.questions.map(\.action) == ["first", "second", "first"].map { "org.example.twice.\($0)" })
        #expect(try #require(service.core.interfaces.first).stream.withRing { $0.requests.opened } == 0)
        try await service.stop()
    }
    @Test("G7: an answer that polkit gave before a change, and sent behind it, permits nothing") func lateAnswer()
        async throws
    {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let service = try await service()
        let peer = try await BusStranger.join(system)
        async let refusal = openRing(peer)
        #expect(await eventually { authority.waiting.count == 1 })
        authority.rule { $0.action.hasSuffix("first") ? .no : .yes }
        try authority.announceChange()
        authority.settle(.yes)
        #expect(await refusal?.name == ErrorNames.name(for: .notPermitted))
        #expect(authority.questions.map(\.action) == ["first", "first"].map { "org.example.twice.\($0)" })
        try await service.stop()
    }
    @Test("G7: a polkit that changes with every question is not asked for ever") func endless() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let service = try await service()
        let peer = try await BusStranger.join(system)
        authority.rule { [weak authority] _ in
            try? authority?.announceChange()
            return .yes
        }
        let refusal = await openRing(peer)
        #expect(refusal?.name == ErrorNames.name(for: .unavailable))
        #expect(refusal?.message.contains("again and again") == true, "\(String(describing: refusal))")
        #expect(authority.questions.count == 4)
        authority.rule { _ in .yes }
        #expect(await openRing(peer) == nil)
        try await service.stop()
    }
    @Test("a person is asked once, though polkit announces a change with that person's answer") func person()
        async throws
    {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        authority.rule { [weak authority] _ in
            try? authority?.announceChange()
            return .yes
        }
        _ = try await peer.connection.call(
            MethodCall(
                to: WatchedDesk.name, path: WatchedDesk.path(Watched1.name), interface: Watched1.name, member: "Touch",
                flags: .allowInteractiveAuthorization))
        #expect(authority.questions.map(\.flags) == [1])
        #expect(desk.runs.withLock { $0 } == ["Touch"])
        try await desk.stop()
    }
    @Test("CloseRing takes back what waits for polkit, also of a peer that may have no more calls waiting")
    func fullGate() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let path = WatchedDesk.path(Watched1.name)
        async let opening = peer.refusal(WatchedDesk.name, path, Stream1.name, "OpenRing")
        #expect(await eventually { authority.waiting.count == 1 })
        let refused = Atomic<Int>(0)
        let free = MethodCall(to: WatchedDesk.name, path: path, interface: Watched1.name, member: "Free")
        for _ in 1...100 {
            peer.connection.send(free) { result in
                if case .failure(let error) = result, error.code == .limitsExceeded {
                    refused.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(await eventually { refused.load(ordering: .relaxed) > 0 })
        #expect(await peer.refusal(WatchedDesk.name, path, Stream1.name, "CloseRing") == nil)
        #expect(await opening?.name == ErrorNames.name(for: .cancelled))
        // What waited behind it goes on.
        #expect(
            await eventually { refused.load(ordering: .relaxed) + desk.runs.withLock { $0.count } == 100 })
        authority.settle(.yes)
        _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        let stream = try #require(desk.service.core.interfaces.first { $0.name == Watched1.name }).stream
        #expect(stream.withRing { $0.requests.opened } == 0)
        #expect(await desk.onLoop { $0.gate.state.onLoop.questions.openCount } == 0)
        // It can ask again.
        authority.rule { _ in .yes }
        #expect(await peer.refusal(WatchedDesk.name, path, Stream1.name, "OpenRing") == nil)
        try await desk.stop()
    }
}
