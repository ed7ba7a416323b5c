import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// The owner puts an event into the ring before it sends what counts the event. Here nobody wakes the ring's thread: what
/// was put there comes by what follows.
@Suite("What a ring holds comes before what counts it", .heavy, .tags(.g1, .g2)) struct RingDrainTests {
    private static func events(_ log: RelayLog) -> [String] {
        log.all.filter { !["connecting", "active", "interrupted"].contains($0) }
    }
    private static func put(_ numbers: ClosedRange<Int64>, _ service: FakeService) throws {
        for number in numbers { try service.put(0, "Said", FollowingTests.said(number), wakes: false) }
    }

    @Test("before a Head, and by its own news") func head() async throws {
        let played = try await PlayedRing()
        let (log, service) = (played.log, played.service)
        await played.join()
        try Self.put(1...3, service)
        try service.announce()
        #expect(await log.wait(for: "3"))
        try Self.put(4...4, service)
        let core = log.relay.follower.core
        core.loop.withTurn { core.streams[Plain1.name]?.drainInlet() }
        #expect(Self.events(log) == ["1", "2", "3", "4"])
        service.vanish()
    }
    @Test("before the owner's departure") func departure() async throws {
        let played = try await PlayedRing()
        let (log, service) = (played.log, played.service)
        await played.join()
        try Self.put(1...2, service)
        service.vanish()
        #expect(await eventually { Self.events(log).count == 3 })
        #expect(Self.events(log).prefix(2) == ["1", "2"] && Self.events(log)[2].hasPrefix("gap 3-"))
        let core = log.relay.follower.core
        #expect(
            await eventually {
                core.loop.withTurn {
                    core.rings.thread == nil && core.streams[Plain1.name]?.inlets.ring.epoch == nil
                }
            })
    }
    @Test("before a reply") func reply() async throws {
        let played = try await PlayedRing()
        let (log, service) = (played.log, played.service)
        await played.join()
        try Self.put(1...2, service)
        _ = try await log.relay.follower.call(interface: Stream1.name, member: "Schemas")
        #expect(Self.events(log) == ["1", "2"])
        service.vanish()
    }
}
