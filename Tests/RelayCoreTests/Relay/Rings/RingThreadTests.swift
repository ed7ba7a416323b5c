import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("A relay's ring thread", .heavy, .tags(.g4)) struct RingThreadTests {
    @Test("a ring that always has something new keeps nobody from a turn of the loop") func turns() async throws {
        let loop = try BusLoop(name: "turns")
        defer { loop.stop() }
        let (writer, page) = (
            try RingWriter("turns", events: [RingEvent(name: "A")], epoch: 1, waker: RingWaker()), try WaitPage(slot: 0)
        )
        let reads = Atomic(0)
        // Whatever it does, there is more.
        let thread = try RingThread(RingWaiter(receiving: page.descriptor), loop) { reads.add(1, ordering: .relaxed) }
        let watch = RingWatch(try RingArea(receiving: writer.descriptor))
        try writer.publish(0, UnsafeRawBufferPointer(start: nil, count: 0))
        try thread.add(watch)
        for round in 1...100 {
            #expect(await eventually { reads.load(ordering: .relaxed) >= 100 * round })
            loop.withTurn { #expect(loop.isCurrent) }
            await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
        }
        thread.remove(watch)
        #expect(await eventually { !thread.isRunning })
    }
    @Test("the ring's thread ends with the last ring, and with the relay") func threads() async throws {
        let meter = try await GaugeService()
        weak var thread: RingThread?
        do {
            let relay = try meter.relay()
            let log = GaugeLog(relay.publisher)
            relay.activate()
            #expect(await relay.isOnRing())
            thread = relay.ringThread
            #expect(thread?.isRunning == true)
            log.end()
            #expect(await eventually { thread?.isRunning == false })
            let again = GaugeLog(relay.publisher)
            #expect(await relay.isOnRing())
            #expect(thread?.isRunning == true)
            #expect(await relay.isLive())
            try meter.publish(1...3)
            #expect(await again.wait(for: "3"))
        }
        #expect(await eventually { thread == nil })
        try await meter.stop()
    }
    @Test("a handler on the ring's thread may do what it likes with the relay: subscribe, call, end it, let it go")
    func handlers() async throws {
        let meter = try await GaugeService()
        let kept = Mutex<EventRelay?>(try meter.relay())
        weak var thread: RingThread?
        weak var loop: BusLoop?
        let more = Mutex<[Subscription]>([])
        let inner = Mutex(0)
        let reply = Mutex<Bool?>(nil)
        @Sendable func answer(_ relay: EventRelay) {
            @Sendable func call() async {
                let isAnswered = (try? await relay.call(Measure(first: 100, count: 0))) != nil
                reply.withLock { $0 = isAnswered }
            }
            Task.detached(operation: call)
        }
        do {
            let relay = try #require(kept.withLock { $0 })
            relay.activate()
            more.withLock {
                $0.append(
                    relay.publisher.subscribe(to: Gauged.self, delivery: .immediate) { event in
                        guard let relay = kept.withLock({ $0 }) else { return }
                        switch event.number {
                        case 1:
                            let one = relay.publisher.subscribe(to: Named.self, delivery: .immediate) {
                                _ in
                                inner.withLock { $0 += 1 }
                            } onGap: { _ in
                            }
                            more.withLock { $0.append(one) }
                            answer(relay)
                        case 3:
                            relay.invalidate()
                            _ = relay.foreignSignals
                        case 5: break
                        default: kept.withLock { $0 = nil }
                        }
                    } onGap: { _ in
                    })
            }
            #expect(await relay.isOnRing())
            #expect(await relay.isLive())
            thread = relay.ringThread
            loop = relay.follower.loop
            try meter.publish(1...1)
            #expect(await eventually { reply.withLock { $0 } == true })
            try meter.publish(2...2)
            #expect(await eventually { inner.withLock { $0 } == 1 })
            try meter.publish(3...3)
            #expect(await eventually { thread == nil })
        }
        kept.withLock { $0 = nil }
        #expect(await eventually { loop == nil })

        // And released from within.
        let last = Mutex<EventRelay?>(try meter.relay())
        var subscription: Subscription?
        do {
            let relay = try #require(last.withLock { $0 })
            subscription = relay.publisher.subscribe(to: Gauged.self, delivery: .immediate) { _ in
                last.withLock { $0 = nil }
            } onGap: { _ in
            }
            relay.activate()
            #expect(await relay.isOnRing())
            #expect(await relay.isLive())
            thread = relay.ringThread
            loop = relay.follower.loop
        }
        try meter.publish(4...5)
        #expect(await eventually { thread == nil && loop == nil })
        withExtendedLifetime(subscription) {}
        try await meter.stop()
    }
}
