import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// The bus drops messages to a connection for which too much waits: here, those about polkit's name.
@Suite("A service that did not hear of another polkit", .heavy, .tags(.g7)) struct PolkitLostSignalTests {
    private static let notPermitted = "org.eventrelay.Error.NotPermitted"
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    /// From now on no change of an owner reaches the service.
    private func loseOwnerChanges(_ desk: WatchedDesk, _ peer: BusStranger) async throws {
        await desk.onLoop { core in
            for rule in [MatchRule.owner(of: Polkit.name), .departures] {
                core.connection.onLoop?.removeMatch(rule)
            }
        }
        // The bus has what the service sent before its answer.
        _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
    }
    /// A peer attached by a polkit's word, to a service that hears of no other one.
    private func deaf() async throws -> (FakeAuthority, WatchedDesk, BusStranger) {
        let first = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        _ = try await peer.connection.call(WatchedDesk.attach())
        try await loseOwnerChanges(desk, peer)
        return (first, desk, peer)
    }
    private func peek(_ peer: BusStranger) async -> RemoteError? {
        await peer.refusal(WatchedDesk.name, WatchedDesk.path(Watched1.name), Watched1.name, "Peek")
    }

    @Test("G7: a question to a polkit that has gone finds the next one, which decides about all peers") func gone()
        async throws
    {
        let (first, desk, peer) = try await deaf()
        first.leave()
        #expect(await eventually { (try? await peer.hasOwner(Polkit.name)) == false })
        let second = try await FakeAuthority.join(system) { _ in .no }
        // The bus refuses what is sent to the former one: nobody was asked.
        #expect(await peek(peer)?.name == "org.eventrelay.Error.Unavailable")
        #expect(await peek(peer)?.name == Self.notPermitted)
        // What it has by the former one's word ends.
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(second.questions.allSatisfy { $0.peer == peer.connection.uniqueName })
        try await desk.stop()
    }
    @Test("G7: a change that the next polkit announces counts, though the service had not heard of it") func changed()
        async throws
    {
        let (first, desk, peer) = try await deaf()
        try await first.releaseName()
        let second = try await FakeAuthority.join(system) { _ in .no }
        try second.announceChange()
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(second.questions.map(\.peer) == [peer.connection.uniqueName] && first.questions.count == 1)
        try await desk.stop()
    }
    @Test("G7: a stranger's flood costs the bus a question a second, and no peer its permission") func flood()
        async throws
    {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let (peer, stranger) = (try await BusStranger.join(system), try await BusStranger.join(system))
        _ = try await peer.connection.call(WatchedDesk.attach())
        let monitor = try BusMonitor(
            bus.bus, rules: ["type='method_call',member='GetNameOwner'"], timeout: .seconds(60))
        let service = await desk.onLoop { $0.connection.onLoop?.uniqueName ?? "" }
        var forged = MessageHeader.signal(path: Polkit.path, interface: Polkit.interface, member: "Changed")
        forged.destination = service
        let (begin, driver) = (MonotonicClock.now, "org.freedesktop.DBus")
        var (asked, rounds) = (0, 0)
        // The service may have asked a moment ago, and does not ask again at once: so it goes on until it has.
        #expect(
            await eventually {
                for _ in 0..<100 { try? stranger.send(signal: forged, []) }
                // The service has read them; and the monitor sees this last, however long it takes.
                _ = try? await stranger.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
                _ = try? await stranger.call(
                    driver, "/org/freedesktop/DBus", driver, "GetNameOwner", [.string(WatchedDesk.name)])
                while let message = try? monitor.next(), message.sender != stranger.connection.uniqueName {
                    if message.sender == service { asked += 1 }
                }
                rounds += 1
                return rounds >= 20 && asked >= 1
            })
        let seconds = Int((MonotonicClock.now - begin) / 1_000_000_000)
        #expect(asked >= 1 && asked <= seconds + 2, "\(asked) in \(seconds) s")
        #expect(authority.questions.count == 1 && !peer.signals.contains { $0.member == "Reattach" })
        // polkit's own word goes on to count.
        authority.rule { _ in .no }
        try authority.announceChange()
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        try await desk.stop()
    }
    @Test("G7: what a former polkit answers, once there is another, permits nothing") func formerAnswer() async throws {
        let first = try await FakeAuthority.join(system) { _ in .later }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        let path = WatchedDesk.path(Watched1.name)
        let open = Task { await peer.refusal(WatchedDesk.name, path, Watched1.name, "Peek") }
        #expect(await eventually { first.waiting.count == 1 })
        try await first.releaseName()
        let second = try await FakeAuthority.join(system) { _ in .no }
        #expect(await eventually { await desk.onLoop { $0.authority.state.onLoop.owner.last } == second.uniqueName })
        first.settle(.yes)
        let refusal = await open.value
        #expect(refusal?.name == "org.eventrelay.Error.Unavailable", "\(String(describing: refusal))")
        #expect(desk.runs.withLock { $0 } == [] && second.questions == [])
        try await desk.stop()
    }
    @Test("G7: a withdrawal whose announcement was lost counts at the next round, also of a ring that was given back")
    func unannounced() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system, timing: ServiceTiming { $0.permissions = .milliseconds(20) })
        let (peer, former) = (try await BusStranger.join(system), try await BusStranger.join(system))
        _ = try await former.connection.call(
            MethodCall(
                to: WatchedDesk.name, path: WatchedDesk.path(Watched1.name), interface: Stream1.name, member: "OpenRing"
            ))
        let stream = try #require(desk.service.core.interfaces.first { $0.name == Watched1.name }).stream
        _ = try await former.call(WatchedDesk.name, WatchedDesk.path(Watched1.name), Stream1.name, "CloseRing")
        #expect(stream.withRing { $0.readers.isEmpty })
        _ = try await peer.connection.call(WatchedDesk.attach())
        // Rounds go on, and change nothing: nor does one that polkit does not answer.
        func rounds(_ count: Int) async {
            let before = authority.questions.count
            #expect(await eventually { authority.questions.count >= before + count })
        }
        await rounds(6)
        authority.rule { _ in .nonsense }
        await rounds(6)
        _ = try await peer.call(WatchedDesk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(!peer.signals.contains { $0.member == "Reattach" } && stream.hasRing)
        authority.rule { _ in .no }
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        #expect(await eventually { !stream.hasRing })
        #expect(await desk.onLoop { $0.permissions.state.onLoop.peers.isEmpty })
        try await desk.stop()
    }
}
