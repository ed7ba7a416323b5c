import Dispatch
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Relays that read rings: a real bus, a real service.
@Suite("Relays that read rings", .heavy, .tags(.g1, .g2)) struct RingFollowingTests {
    @Test("a relay on the ring has rules for the last word only, and sees each in order, raw or encoded") func whole()
        async throws
    {
        let meter = try await GaugeService()
        try meter.publish(1...5)
        let relay = try meter.relay()
        let log = GaugeLog(relay.publisher)
        relay.activate()
        #expect(await relay.isOnRing())
        #expect(await relay.isLive())
        #expect(relay.rules().count == 2)
        #expect(relay.rules().contains { $0.contains("interface='\(Stream1.name)'") && $0.contains("member='End'") })
        for first in stride(from: Int64(6), through: 2_000, by: 100) {
            try meter.publish(first...first + 99)
            #expect(await log.wait(for: "\(first + 99)"))
        }
        #expect(log.all == GaugeLog.numbers(6...2_005))
        // What is subscribed to changes what is asked of the bus, and no event comes twice.
        log.end()
        #expect(await eventually { relay.rules().count == 1 && relay.phase(of: Gauge1.name) == .unknown })
        let again = GaugeLog(relay.publisher)
        #expect(await relay.isOnRing())
        #expect(await relay.isLive())
        try meter.publish(2_006...2_010)
        #expect(await again.wait(for: "2010"))
        #expect(again.all == GaugeLog.numbers(2_006...2_010))
        #expect(relay.follower.ringFaults == 0)
        try await meter.stop()
    }
    @Test("joining in the middle of a flood loses nothing from the first event on, for one name and for all")
    func joining() async throws {
        let meter = try await GaugeService()
        let isOver = Mutex(false)
        @Sendable func publish() async throws {
            var number: Int64 = 1
            while !isOver.withLock({ $0 }) {
                try meter.publish(number...number + 9)
                number += 10
                // The ring lasts for a second at least, in which a busy machine lets its reader run: being lapped is another test.
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        let flood = Task.detached(operation: publish)
        let relay = try meter.relay()
        relay.activate()
        for round in 1...20 {
            let seen = Mutex<[Int64]>([])
            let gaps = Mutex<[Gap]>([])
            let sampled = relay.publisher.subscribe(to: Gauged.self, delivery: .immediate) { event in
                seen.withLock { $0.append(event.number) }
            } onGap: { gap in
                gaps.withLock { $0.append(gap) }
            }
            let labelled =
                round % 2 == 0
                ? relay.publisher.subscribe(to: Named.self, delivery: .immediate) { _ in
                } onGap: { _ in
                } : nil
            #expect(await eventually { seen.withLock { $0.count > 20 } })
            withExtendedLifetime((sampled, labelled)) {}
            let numbers = seen.withLock { $0 }
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 2 }, "\(numbers)")
            #expect(gaps.withLock { $0 } == [])
        }
        isOver.withLock { $0 = true }
        try await flood.value
        try await meter.stop()
    }
    @Test("a reader that is lapped learns which events it missed, exactly") func lapped() async throws {
        let lapped = try await LappedGauge()
        let lines = lapped.log.all
        let gaps = lines.indices.filter { lines[$0].hasPrefix("gap") }
        #expect(!gaps.isEmpty)
        // Each gap ends where the next event is, and begins behind the one before.
        for index in gaps {
            let (before, after) = (try #require(Int64(lines[index - 1])), try #require(Int64(lines[index + 1])))
            #expect(lines[index] == "gap \(before + 1)-\(after - 1) lost")
        }
        let numbers = lines.compactMap { Int64($0) }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        try await lapped.meter.stop()
    }
    @Test("a durable interface has no gap: what a lapped reader missed is read from the journal") func lappedDurable()
        async throws
    {
        let desk = try await DurableDesk()
        let relay = try PositionedTests.relay(desk.bus)
        let seen = Mutex<[Int64]>([])
        let gaps = Mutex(0)
        let (isIn, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let subscription = relay.publisher.subscribe(to: Booked.self, delivery: .immediate) { event in
            seen.withLock { $0.append(event.number) }
            if event.number == 1 {
                isIn.signal()
                mayGo.wait()
            }
        } onGap: { _ in
            gaps.withLock { $0 += 1 }
        }
        relay.activate()
        #expect(await relay.isOnRing(Ledger1.name))
        #expect(await relay.isLive(Ledger1.name))
        let text = String(repeating: "x", count: 4_000)
        try await desk.service.publish(Booked(number: 1, text: text))
        #expect(await eventually { isIn.wait(timeout: .now()) == .success })
        // More than the ring has room for.
        for first in stride(from: Int64(2), to: 2_000, by: 100) {
            try await desk.service.publish(contentsOf: (first..<first + 100).map { Booked(number: $0, text: text) })
        }
        mayGo.signal()
        #expect(await eventually { seen.withLock { $0.last == 2_001 } })
        #expect(seen.withLock { $0 } == Array(1...2_001))
        #expect(gaps.withLock { $0 } == 0)
        withExtendedLifetime(subscription) {}
        try await desk.stop()
    }
    @Test("a tool that starts beyond the head sees all that is published from then on") func beyondHead() async throws {
        let meter = try await GaugeService()
        let follower = try ServiceFollower(service: GaugeService.name, on: meter.bus.bus) { _ in }
        let tool = try follower.envelopes(of: Gauge1.name, from: StreamPosition(.at(41)))
        follower.activate()
        #expect(
            await eventually {
                follower.loop.withTurn {
                    let stream = follower.core.streams[Gauge1.name]
                    let isFollowing = stream?.members.contains { $0.machine.isFollowing } ?? false
                    return stream?.inlets.ring.epoch != nil && isFollowing
                }
            })
        try meter.publish(1...3)
        var sequences: [UInt64] = []
        #expect(
            await eventually {
                while let delivery = tool.poll() {
                    if case .event(_, let stamp) = delivery { sequences.append(stamp.sequence) }
                }
                return sequences.count >= 3
            })
        #expect(sequences == [1, 2, 3])
        tool.cancel()
        follower.invalidate()
        try await meter.stop()
    }
    @Test("a subscription that begins at a time needs no Head to confirm what the ring brings")
    func sinceOnRing() async throws {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: ""))
        let follower = try ServiceFollower(service: DurableDesk.name, on: desk.bus.bus) { _ in }
        follower.follow(interface: Ledger1.name, names: nil)
        follower.activate()
        let core = follower.core
        #expect(
            await eventually {
                core.loop.withTurn { core.streams[Ledger1.name]?.inlets.ring.epoch != nil }
            })
        let start = StreamPosition.since(Timestamp(microseconds: 0))
        let tool = try follower.envelopes(of: Ledger1.name, from: start)
        #expect(
            await eventually {
                core.loop.withTurn {
                    let member = core.streams[Ledger1.name]?.members.last
                    return member?.feed != nil && member?.search == nil && member?.machine.isFollowing == true
                }
            })
        #expect(
            core.loop.withTurn {
                core.streams[Ledger1.name]?.members.allSatisfy { $0.machine.reportsLoss }
            } == true)
        tool.cancel()
        follower.invalidate()
        try await desk.stop()
    }
    @Test("an answer comes behind the events that preceded it") func replies() async throws {
        let meter = try await GaugeService()
        let relay = try meter.relay()
        let log = GaugeLog(relay.publisher)
        relay.activate()
        #expect(await relay.isOnRing())
        for round in 0..<20 {
            try await relay.call(Measure(first: Int64(round * 7 + 1), count: 7))
            #expect(log.all == GaugeLog.numbers(1...Int64(round * 7 + 7)))
        }
        try await meter.stop()
    }
    @Test("a service that stops has said everything, and the next one's run is whole") func restart() async throws {
        let bus = try PrivateBus()
        var meter = try await GaugeService(bus)
        let relay = try meter.relay()
        let log = GaugeLog(relay.publisher)
        relay.activate()
        #expect(await relay.isOnRing())
        #expect(await relay.isLive())
        for round in 0..<5 {
            try meter.publish(1...200)
            try await meter.stop()
            #expect(await eventually { relay.phase(of: Gauge1.name) == .unknown })
            #expect(log.all.count == (round + 1) * 200)
            meter = try await GaugeService(bus)
            #expect(await relay.isOnRing())
        }
        #expect(log.all == Array(repeating: GaugeLog.numbers(1...200), count: 5).flatMap { $0 })
        try await meter.stop()
    }
    @Test(
        "a program of another version reads raw events by the sender's layout, and tools see what a signal would have")
    func versions() async throws {
        let meter = try await GaugeService()
        let relay = try EventRelay(following: GaugeService.name, on: meter.bus.bus, interfaces: OtherGauge1.self)
        let seen = Mutex<[String]>([])
        let sampled = relay.publisher.subscribe(to: OtherGauged.self, delivery: .immediate) { event in
            seen.withLock { $0.append("\(event.number) \(event.value)") }
        } onGap: { _ in
        }
        let labelled = relay.publisher.subscribe(to: OtherNamed.self, delivery: .immediate) { event in
            seen.withLock { $0.append("\(event.number) \(event.text) \(event.note ?? "-")") }
        } onGap: { _ in
        }
        let positioned = try relay.events(of: OtherGauged.self, from: .now)
        relay.activate()
        let outputs = Mutex<[Envelope]>([])
        let follower = try ServiceFollower(service: GaugeService.name, on: meter.bus.bus) { output in
            if case .event(let envelope) = output { outputs.withLock { $0.append(envelope) } }
        }
        follower.follow(interface: Gauge1.name, names: nil)
        let tool = try follower.envelopes(of: Gauge1.name, named: ["Gauged"], from: .now)
        follower.activate()
        #expect(await relay.isOnRing())
        #expect(await relay.isLive())
        #expect(
            await eventually {
                follower.loop.withTurn {
                    let stream = follower.core.streams[Gauge1.name]
                    let isFollowing = stream?.members.allSatisfy { $0.machine.isFollowing } ?? false
                    return stream?.inlets.ring.epoch != nil && isFollowing
                }
            })
        try meter.publish(1...4)
        #expect(await eventually { seen.withLock { $0.count } == 4 && outputs.withLock { $0.count } == 4 })
        #expect(seen.withLock { $0 } == ["1 0.25", "2 label 2 -", "3 0.75", "4 label 4 -"])
        var numbers: [Int64] = []
        for await case .event(let event, _) in positioned {
            numbers.append(event.number)
            if numbers.count == 2 { break }
        }
        #expect(numbers == [1, 3])
        let envelopes = outputs.withLock { $0 }
        #expect(envelopes.map(\.signature) == ["xdiuttt", "xsttt", "xdiuttt", "xsttt"])
        #expect(envelopes[2].fields?.map(\.name) == ["number", "value", "kind", "flags"])
        let values = try DBusValue.decode(
            signature: Signature(envelopes[2].signature), body: envelopes[2].body.withUnsafeBytes { $0 })
        #expect(values.prefix(6) == [.int64(3), .double(0.75), .int32(3), .uint32(7), .uint64(3), .uint64(1)])
        var taken: EventOrGap<Envelope>?
        #expect(
            await eventually {
                taken = tool.poll()
                return taken != nil
            })
        guard case .event(let envelope, _)? = taken else { return }
        #expect(envelope.body == envelopes[0].body && envelope.signature == envelopes[0].signature)
        withExtendedLifetime((sampled, labelled)) {}
        try await meter.stop()
    }
}
