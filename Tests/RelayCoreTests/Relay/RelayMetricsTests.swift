import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayInspection

@Suite("What a relay counts", .heavy) struct RelayMetricsTests {
    @Test("on the ring: what came, what it overran, and the gaps in its place; the service counts what it sent")
    func ring() async throws {
        let lapped = try await LappedGauge()
        let (meter, relay, log) = (lapped.meter, lapped.relay, lapped.log)

        let stream = try #require(relay.metrics.streams.first)
        let seen = log.all.compactMap { Int64($0) }.count
        #expect(stream.interface == Gauge1.name && stream.usesRing && stream.ringFaults == 0)
        #expect(stream.transports == [.init(name: "ring", events: UInt64(seen))])
        let gaps = try #require(stream.gaps.first)
        #expect(stream.gaps.count == 1 && gaps.reason == .lost && gaps.openEnded == 0)
        #expect(gaps.count == log.all.filter { $0.hasPrefix("gap") }.count)
        #expect(gaps.sequences == UInt64(20_000 - seen) && stream.ringOverruns > 0)

        let sent = try #require(meter.service.metrics.streams.first)
        let (ring, signals) = (sent.transports[0], sent.transports[1])
        #expect((ring.name, ring.carried, ring.heldBack, ring.tooLarge) == ("ring", 20_000, 0, 0))
        // Whether the signals exceed their budget is a matter of the machine's pace.
        #expect(signals.name == "signal" && (signals.heldBack > 0) == (sent.signalPauses > 0))
        #expect(signals.carried + signals.heldBack == 20_000)
        #expect(sent.ring == .init(opened: 1, refused: 0, returned: 0))
        log.end()
        #expect(await eventually { meter.service.metrics.streams[0].ring?.returned == 1 })
        #expect(await eventually { !relay.metrics.streams[0].usesRing })
        try await meter.stop()
    }
    @Test("what is read from the journal is told from what comes live") func journal() async throws {
        let desk = try await DurableDesk()
        for number in Int64(1)...4 { try await desk.service.publish(Booked(number: number, text: "")) }
        let relay = try PositionedTests.relay(desk.bus)
        let seen = Log<Int64>()
        let subscription = try relay.subscribe(to: Booked.self, from: .beginning) {
            seen.add($0.number)
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { seen.count == 4 })
        #expect(await relay.isOnRing(Ledger1.name))
        // Nobody subscribes to the publisher: the positioned subscription alone is to be in step.
        let core = relay.follower.core
        #expect(
            await eventually {
                core.loop.withTurn {
                    core.streams[Ledger1.name]?.members.contains {
                        $0.feed != nil && $0.machine.isFollowing && !$0.machine.awaitsAnswer
                    } ?? false
                }
            })
        try await desk.service.publish(Booked(number: 5, text: ""))
        #expect(await eventually { seen.values == [1, 2, 3, 4, 5] })
        let stream = try #require(relay.metrics.streams.first { $0.interface == Ledger1.name })
        #expect(stream.transports == [.init(name: "journal", events: 4), .init(name: "ring", events: 1)])
        #expect(stream.events == 5 && stream.pages > 0 && stream.gaps == [])
        withExtendedLifetime(subscription) {}
        try await desk.stop()
    }
    @Test("by signals: what came and what was lost; also asked for within a handler") func signals() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        let asked = Log<UInt64>()
        let subscription = log.relay.publisher.subscribe(to: Said.self, delivery: .immediate) {
            [weak relay = log.relay] _ in
            asked.add(relay?.metrics.streams[0].events ?? 0)
        } onGap: { _ in
        }
        log.relay.activate()
        #expect(await log.relay.isLive(Plain1.name))
        try service.publish("Said", FollowingTests.said(1))
        for number: Int64 in 2...3 { try service.publish("Said", FollowingTests.said(number), isLost: true) }
        try service.publish("Said", FollowingTests.said(4))
        #expect(await log.wait(for: "4"))
        let stream = try #require(log.relay.metrics.streams.first)
        #expect(stream.transports == [.init(name: "signal", events: 2)] && !stream.usesRing)
        let gaps = try #require(stream.gaps.first)
        #expect(stream.gaps.count == 1 && gaps.reason == .lost && gaps.count == 1 && gaps.sequences == 2)
        #expect(await eventually { asked.values == [1, 2] })
        withExtendedLifetime(subscription) {}
        service.vanish()
    }
}
