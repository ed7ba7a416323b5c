import Dispatch
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayEvents

@Suite("Buffers that overflow", .tags(.g2, .g3)) struct OverflowTests {
    private func stream(_ buffer: EventBuffer) -> (EventPublisher, EventStream<Numbered>) {
        let publisher = EventPublisher()
        return (publisher, publisher.events(of: Numbered.self, buffer: buffer))
    }
    private func publish(_ numbers: ClosedRange<Int>, _ publisher: EventPublisher) {
        for number in numbers { publisher.publish(Numbered(number: number)) }
    }

    @Test("bufferingNewest: the gap, then the newest")
    func newest() async {
        let (publisher, stream) = stream(.bufferingNewest(2))
        publish(1...5, publisher)
        #expect(await stream.take(3) == ["gap 1...3 (3, overflow)", "4", "5"])
        #expect(stream.missed == 3)
        publish(6...6, publisher)
        #expect(await stream.take(1) == ["6"])
    }
    @Test("bufferingOldest: the oldest, then the gap, and on it goes")
    func oldest() async {
        let (publisher, stream) = stream(.bufferingOldest(2))
        publish(1...5, publisher)
        #expect(await stream.take(3) == ["1", "2", "gap 3...5 (3, overflow)"])
        publish(6...6, publisher)
        #expect(await stream.take(1) == ["6"])
        #expect(stream.missed == 3)
    }
    @Test("ending: the oldest, the gap, the end")
    func ending() async {
        let (publisher, stream) = stream(.ending(after: 2))
        publish(1...5, publisher)
        #expect(await stream.take(4) == ["1", "2", "gap 3...3 (1, overflow)", "end"])
        #expect(stream.missed == 1)
    }
    @Test("a handler's subscription ends after the gap of an ending buffer")
    func endingHandler() throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<String>()
        let subscription = publisher.subscribe(to: Numbered.self, buffer: .ending(after: 1)) {
            log.add("\($0.number)")
        } onGap: {
            log.add(text($0))
        }
        publish(1...3, publisher)
        #expect(subscription.isActive)
        target.drain()
        #expect(log.values == ["1", "gap 2...2 (1, overflow)"])
        #expect(!subscription.isActive)
        publish(4...4, publisher)
        target.drain()
        #expect(log.count == 2)
    }
    @Test("a limit below one is one")
    func limits() async {
        let (publisher, stream) = stream(.bufferingNewest(-5))
        publish(1...2, publisher)
        #expect(await stream.take(2) == ["gap 1...1 (1, overflow)", "2"])
    }
    @Test("a closure gets the gap in its place among the other types of its queue, and its subscription counts it")
    func gapInPlace() {
        let queue = DispatchQueue(label: "slow")
        let publisher = EventPublisher(delivery: .queue(queue))
        let log = Log<String>()
        queue.suspend()
        let slow = publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(2)) {
            log.add("\($0.number)")
        } onGap: {
            log.add("gap \($0.count ?? -1)")
        }
        let other = publisher.subscribe(to: Lettered.self) {
            log.add("other \($0.number)")
        } onGap: { _ in
        }
        for number in 1...300 {
            publisher.publish(Numbered(number: number))
            if number % 100 == 0 { publisher.publish(Lettered(number: number)) }
        }
        queue.resume()
        queue.sync {}
        #expect(log.values == ["other 100", "other 200", "gap 298", "299", "300", "other 300"])
        #expect(slow.missed == 298)
        #expect(other.missed == 0)
        slow.cancel()
        #expect(slow.missed == 298)
    }

    @Test(
        "whatever the load, each event is delivered once or lies in one gap in its place",
        arguments: 1...20 as ClosedRange<UInt64>)
    func exactlyOnceOrGap(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        enum Seen { case event(Int, UInt64), gap(Gap) }
        let logs = (0..<3).map { _ in Log<Seen>() }
        let buffers: [EventBuffer] = [.bufferingNewest(3), .bufferingOldest(3), .bufferingNewest(40)]
        let subscriptions = zip(logs, buffers).map { log, buffer in
            publisher.subscribe(to: Numbered.self, buffer: buffer) {
                log.add(.event($0.number, 0))
            } onGap: {
                log.add(.gap($0))
            }
        }
        let order = Log<Int>()
        let other = publisher.subscribe(to: Lettered.self, buffer: .bufferingNewest(5)) {
            order.add($0.number)
        } onGap: { _ in
        }
        var (sequence, published): (UInt64, [UInt64]) = (0, [])
        for _ in 0..<400 {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                sequence += 1
                if Bool.random(using: &random) {
                    publisher.publish(Lettered(number: Int(sequence)))
                } else {
                    publisher.publish(Numbered(number: Int(sequence)))
                    published.append(sequence)
                }
            }
            if Int.random(in: 0...2, using: &random) == 0 { target.drain() }
        }
        target.drain()
        for (log, subscription) in zip(logs, subscriptions) {
            var (position, missed): (UInt64, Int) = (0, 0)
            for seen in log.values {
                switch seen {
                case .event(let number, _):
                    // Nothing of this type was skipped in silence.
                    #expect(!published.contains { $0 > position && $0 < number }, "seed \(seed)")
                    #expect(number > position, "seed \(seed)")
                    position = UInt64(number)
                case .gap(let gap):
                    let lost = published.filter { gap.sequences.contains($0) }
                    #expect(gap.sequences.lowerBound > position && lost.count == gap.count, "seed \(seed)")
                    #expect(
                        lost.first == gap.sequences.lowerBound && lost.last == gap.sequences.upperBound, "seed \(seed)")
                    #expect(!published.contains { $0 > position && $0 < gap.sequences.lowerBound }, "seed \(seed)")
                    missed += gap.count ?? 0
                    position = gap.sequences.upperBound
                }
            }
            #expect(!published.contains { $0 > position }, "seed \(seed)")
            #expect(subscription.missed == missed, "seed \(seed)")
        }
        #expect(order.values == order.values.sorted(), "seed \(seed)")
        withExtendedLifetime(other) {}
    }

    @Test("a flood onto a stopped queue holds no more than the buffers' events, nor do cancelled subscriptions")
    func boundedMemory() {
        final class Counted: Sendable {
            let alive: Log<Int>
            init(_ alive: Log<Int>) {
                self.alive = alive
                alive.add(1)
            }
            deinit { alive.add(-1) }
        }
        struct Heavy: Event { let payload: Counted }
        let queue = DispatchQueue(label: "stopped")
        let publisher = EventPublisher(delivery: .queue(queue))
        let alive = Log<Int>()
        queue.suspend()
        let kept = [
            publisher.subscribe(to: Heavy.self, buffer: .bufferingNewest(10)) { _ in
            } onGap: { _ in
            },
            publisher.subscribe(to: Heavy.self, buffer: .bufferingOldest(10)) { _ in
            } onGap: { _ in
            },
        ]
        for _ in 0..<200 {
            // Cancelled at once, with its events still waiting.
            let passing = publisher.subscribe(to: Heavy.self) { _ in
            } onGap: { _ in
            }
            for _ in 0..<20 { publisher.publish(Heavy(payload: Counted(alive))) }
            passing.cancel()
        }
        #expect(alive.values.reduce(0, +) <= 20)
        for mailbox in publisher.state.withLock({ $0.mailboxes.all }) {
            #expect(mailbox.tokenCount <= 2 * 20 + 128)
        }
        queue.resume()
        queue.sync {}
        withExtendedLifetime(kept) {}
    }
}
