import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// More questions than polkit, or the bus, takes at once.
@Suite("Many questions for polkit", .heavy, .tags(.g4)) struct PolkitLoadTests {
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    @Test("G4: a bus that takes no question of a recheck costs nobody an authorisation") func fullRecheck() async throws
    {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(WatchedDesk.attach())
        authority.rule { _ in .error("org.freedesktop.DBus.Error.LimitsExceeded") }
        try authority.announceChange()
        #expect(await eventually { authority.questions.count == 6 })
        authority.rule { _ in .yes }
        #expect(await eventually { authority.questions.count >= 7 })
        _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(!peer.signals.contains { $0.member == "Reattach" })
        #expect(desk.service.core.interfaces.first?.stream.subscribers.count == 1)
        try await desk.stop()
    }
    @Test("G7: a bus that takes no question for long does not keep what polkit may have withdrawn", .tags(.g7))
    func lastingRefusal() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system, timing: ServiceTiming { $0.recheck = .milliseconds(1) })
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(WatchedDesk.attach())
        authority.rule { _ in .error("org.freedesktop.DBus.Error.LimitsExceeded") }
        try authority.announceChange()
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(authority.questions.count == 1 + PolkitPermissions.attemptsWithoutRoom)
        #expect(desk.service.core.interfaces.first?.stream.subscribers.isEmpty == true)
        try await desk.stop()
    }
    @Test("G4: one user's calls do not take all questions that may be open, and delay no recheck") func manyQuestions()
        async throws
    {
        let authority = try await FakeAuthority.join(system) { $0.action.hasSuffix("manage") ? .later : .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(WatchedDesk.attach())
        let callers = [
            try await BusStranger.join(system), try await BusStranger.join(system), try await BusStranger.join(system),
        ]
        let answered = Atomic<Int>(0)
        let touch = MethodCall(
            to: WatchedDesk.name, path: WatchedDesk.path(Watched1.name), interface: Watched1.name, member: "Touch")
        for caller in callers {
            for _ in 1...64 {
                caller.connection.send(touch, timeout: .seconds(120)) { result in
                    if case .success = result { answered.add(1, ordering: .relaxed) }
                }
            }
        }
        #expect(await eventually { await desk.onLoop { $0.gate.state.onLoop.queue.count } == 192 })
        // Behind all that was asked.
        try authority.announceChange()
        #expect(await eventually { authority.questions.count { $0.action.hasSuffix("follow") } == 2 })
        #expect(authority.waiting.count == PeerResource.polkitQuestions.bounds.share)
        #expect(!peer.signals.contains { $0.member == "Reattach" })
        // What a caller that has left asked for is not asked any more.
        callers[2].connection.close()
        #expect(await eventually { await desk.onLoop { $0.gate.state.onLoop.queue.count } == 128 })
        authority.rule { _ in .yes }
        authority.settle(.yes)
        #expect(await eventually { answered.load(ordering: .relaxed) == 128 })
        #expect(authority.questions.count < 192)
        let left = await desk.onLoop { core in
            (core.gate.state.onLoop.questions.openCount, core.gate.state.onLoop.questions.waitingCount)
        }
        #expect(left == (0, 0))
        try await desk.stop()
    }
}
