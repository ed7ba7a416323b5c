import CRelayShims
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayInspection

@Suite("Rings that fail, or are refused", .heavy, .tags(.g2)) struct RingFaultTests {
    @Test("a ring that turns bad is given up for signals, and only what it lost is a gap", arguments: [0, 1])
    func fault(_ way: Int) async throws {
        let played = try await PlayedRing()
        let (log, ring, service) = (played.log, played.ring, played.service)
        await played.join()
        for number: Int64 in 1...3 { try service.put(0, "Said", FollowingTests.said(number)) }
        #expect(await log.wait(for: "3"))
        // Signals count for nothing beside the ring.
        try service.publish("Said", FollowingTests.said(4))
        try service.put(0, "Said", FollowingTests.said(5))
        let attaches = service.attaches
        if way == 0 {
            relay_store_release(ring.area.tail, 7)
        } else {
            relay_store(ring.area.intent, 0)
            relay_store_release(ring.area.tail, UInt64.max - 7)
        }
        ring.page.wake(at: MonotonicClock.now)
        #expect(await eventually { log.relay.follower.ringFaults == 1 })
        #expect(log.relay.metrics.streams.map(\.ringFaults) == [1])
        #expect(await eventually { log.relay.rules().count == 3 })
        #expect(log.relay.phase(of: Plain1.name) == .signals)
        // The bus has the rules for signals before this question: what is published from here on comes.
        #expect(await eventually { service.attaches > attaches })
        try service.publish("Said", FollowingTests.said(6))
        #expect(await log.wait(for: "6"))
        let told = log.all.filter { $0 != "active" && $0 != "connecting" }
        #expect(
            told == ["1", "2", "3", "gap 4-4 lost", "5", "6"] || told == ["1", "2", "3", "gap 4-5 lost", "6"], "\(told)"
        )
        // It ends by itself, after its next look.
        #expect(await eventually { log.relay.ringThread?.isRunning == false })
        service.vanish()
    }
    @Test("a relay whose ring was refused for lack of room asks again, and goes over to it without a gap")
    func refused()
        async throws
    {
        let played = try await PlayedRing(timing: RelayTiming { $0.ringPlace = .milliseconds(100)...(.seconds(1)) })
        let (log, service) = (played.log, played.service)
        service.refuseRings(.max)
        log.relay.activate()
        #expect(await eventually { log.relay.phase(of: Plain1.name) == .signals })
        #expect(await log.relay.isLive(Plain1.name))
        try service.publish("Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        // From its next try on.
        service.refuseRings(0)
        await played.join()
        for number: Int64 in 2...3 { try service.put(0, "Said", FollowingTests.said(number)) }
        #expect(await log.wait(for: "3"))
        #expect(log.all.filter { $0 != "active" && $0 != "connecting" } == ["1", "2", "3"])
        #expect(service.closedRings == 0)
        // Nobody wants anything of it any more.
        log.unsubscribe()
        #expect(await eventually { service.closedRings == 1 })
        service.vanish()
    }
    @Test("a relay that did not get the ring that it was given while signals came gives it back, and attaches again")
    func lost() async throws {
        // While the answer is awaited, the event has to be published: a busy machine may take seconds for that.
        let played = try await PlayedRing(
            timing: RelayTiming {
                ($0.answer, $0.ringPlace) = (.seconds(10), .milliseconds(100)...(.seconds(1)))
            })
        let (log, service) = (played.log, played.service)
        service.refuseRings(.max)
        log.relay.activate()
        #expect(await eventually { log.relay.phase(of: Plain1.name) == .signals })
        #expect(await log.relay.isLive(Plain1.name))
        try service.publish("Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        // Nothing is in doubt that the relay would ask about.
        try service.announce()
        #expect(await log.relay.follower.core.isConfirmed())
        service.loseRings(1)
        service.refuseRings(0)
        #expect(await eventually { service.isHandedOver })
        // No signal of it is sent, and nothing follows that would show that it is missing.
        try service.publish("Said", FollowingTests.said(2))
        #expect(await log.wait(for: "gap 2-2 lost"), "\(log.all)")
        // Without another try, which would come later and later.
        let asked = service.calls.split(separator: "OpenRing").last { $0.contains("CloseRing") }
        #expect(asked?.contains("Attach") == true, "\(service.calls)")
        service.vanish()
    }
    @Test("a return that the service does not hear of, or refuses, is repeated, and the relay attaches again")
    func unheardReturn() async throws {
        for isLost in [true, false] {
            let played = try await PlayedRing(
                timing: RelayTiming { ($0.answer, $0.retry) = (.milliseconds(500), .milliseconds(50)) })
            let (log, service) = (played.log, played.service)
            // It takes the relay for a reader from its first answer on, which does not come.
            service.loseRings(1)
            service.refuseRings(.max)
            if isLost { service.loseCloses(2) } else { service.refuseCloses(2) }
            log.relay.activate()
            #expect(await log.wait(for: "active"))
            #expect(log.relay.phase(of: Plain1.name) == .signals)
            #expect(await eventually { !service.isHandedOver })
            #expect(await log.relay.isLive(Plain1.name))
            try service.publish("Said", FollowingTests.said(2))
            #expect(await log.wait(for: "2"))
            service.vanish()
        }
    }
    @Test("a drain ends at the tail, however many known records it passes over") func passing() async throws {
        let played = try await PlayedRing()
        let (log, ring, service) = (played.log, played.ring, played.service)
        await played.join()
        for number: Int64 in 1...100 { try service.put(0, "Said", FollowingTests.said(number)) }
        #expect(await log.wait(for: "100"))
        let core = log.relay.follower.core
        let (position, tail) = core.loop.withTurn { () -> (UInt64, UInt64) in
            guard let stream = core.streams[Plain1.name],
                let found = stream.inlets.ring.ring
            else { return (0, 1) }
            // All but the last are known: each step passes over two of them.
            found.reader = RingReader(ring.area, after: 99, passing: 2)
            stream.drain()
            return (found.reader.position, (try? found.reader.look()) ?? 1)
        }
        #expect(position == tail)
        service.vanish()
    }
    @Test("G8: a drain ends whose ring's tail goes back meanwhile") func tailGoesBack() async throws {
        let played = try await PlayedRing()
        let (log, ring, service) = (played.log, played.ring, played.service)
        await played.join()
        try service.put(0, "Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        let core = log.relay.follower.core
        let honest = Atomic<UInt64>(0)
        let subscription = log.relay.publisher.subscribe(to: Said.self, delivery: .immediate) { event in
            if event.number == 9 { relay_store_release(ring.area.tail, honest.load(ordering: .relaxed)) }
        } onGap: { _ in
        }
        try core.loop.withTurn {
            let stream = try #require(core.streams[Plain1.name])
            let inlet = stream.inlets.ring
            for number: Int64 in 2...9 { try service.put(0, "Said", FollowingTests.said(number)) }
            let tail = try #require(try inlet.ring?.reader.look())
            honest.store(tail, ordering: .relaxed)
            // The others are in the reader's own memory from then on, and are delivered without a look at the ring.
            inlet.drainOrPark(most: 1, stream)
            relay_store(ring.area.intent, tail + 4_096)
            relay_store_release(ring.area.tail, tail + 1_024)
            stream.drain()
        }
        #expect(await eventually { log.relay.follower.ringFaults == 1 })
        #expect(await log.wait(for: "9"))
        withExtendedLifetime(subscription) {}
        service.vanish()
    }
    @Test("descriptors that are no ring, and a ring of another run, leave the signals") func noRing() async throws {
        for isOther in [false, true] {
            let played = try await PlayedRing(of: isOther ? 2 : 1, with: isOther ? "Said" : "Unheard")
            let (log, service) = (played.log, played.service)
            log.relay.activate()
            #expect(await eventually { log.relay.phase(of: Plain1.name) == .signals })
            #expect(await log.relay.isLive(Plain1.name))
            try service.publish("Said", FollowingTests.said(1))
            #expect(await log.wait(for: "1"))
            #expect(log.relay.follower.ringFaults == (isOther ? 1 : 0))
            #expect(await eventually { service.closedRings == 1 }, "the service has to know that signals are read")
            service.vanish()
        }
    }
}
