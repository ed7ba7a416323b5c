import TestTraits
import Dispatch
import RelayEvents
import RelayTestKit
import Testing

@Suite("A relay's events at the publisher") struct RelayEntryTests {
    private let lost = Gap(4...6, epoch: 9, count: nil, reason: .lost)

    @Test("events with the stamp of the wire keep it")
    func givenStamps() async {
        let publisher = EventPublisher()
        let stream = publisher.events(of: Stored.self)
        let given = Stamp(epoch: 9, sequence: 41, previous: 17, publishedAt: Timestamp(microseconds: 3))
        publisher.deliver(Stored(number: 1), stamp: given)
        publisher.publish(Stored(number: 2))
        var stamps: [Stamp] = []
        for await case .event(_, let stamp) in stream {
            stamps.append(stamp)
            if stamps.count == 2 { break }
        }
        #expect(stamps[0] == given)
        // What is published here has the publisher's own order.
        #expect(stamps[1].epoch != 9 && stamps[1].previous == 0)
    }

    @Test("a gap reaches each kind of subscription to its types in order with the events, once")
    func gaps() async throws {
        actor Ledger {
            private(set) var seen: [String] = []
            func follow(_ publisher: EventPublisher) {
                publisher.subscribe(self, to: Stored.self) { me, event in
                    me.seen.append("\(event.number)")
                } onGap: { me, gap in
                    me.seen.append(text(gap))
                }
            }
        }
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let (immediate, polled, other) = (Log<String>(), Log<String>(), Log<String>())
        let (object, ledger) = (GapObject(), Ledger())
        await ledger.follow(publisher)
        object.follow(publisher)
        let subscriptions = [
            publisher.subscribe(to: Stored.self, delivery: .immediate) {
                immediate.add("\($0.number)")
            } onGap: {
                immediate.add(text($0))
            },
            publisher.subscribe(to: Stored.self) {
                polled.add("\($0.number)")
            } onGap: {
                polled.add(text($0))
            },
            publisher.subscribe(to: Moved.self, delivery: .immediate) {
                other.add("\($0.number)")
            } onGap: {
                other.add(text($0))
            },
        ]
        let stream = publisher.events(in: Warehouse1.self)
        publisher.deliver(Stored(number: 3), stamp: stamp(3, epoch: 9))
        publisher.deliver(lost, to: [Stored.self, Taken.self, Stored.self])
        publisher.deliver(Stored(number: 7), stamp: stamp(7, epoch: 9))
        target.drain()
        let expected = ["3", "gap 4...6 (?, lost)", "7"]
        #expect(immediate.values == expected)
        #expect(polled.values == expected)
        #expect(other.values.isEmpty)
        #expect(await stream.take(3) == ["Stored(number: 3)", "gap 4...6 (?, lost)", "Stored(number: 7)"])
        #expect(
            await eventually {
                target.drain()
                return object.seen.values == expected
            })
        #expect(await eventually { await ledger.seen == expected })
        #expect(subscriptions[0].missed == 1 && subscriptions[1].missed == 1 && stream.missed == 1)
    }
    @Test("a gap of an interface reaches all its subscriptions, and its stream once")
    func interfaceGaps() async {
        let publisher = EventPublisher(delivery: .immediate)
        let log = Log<String>()
        let subscriptions = [
            publisher.subscribe(to: Stored.self) { _ in
            } onGap: { _ in
                log.add("Stored")
            },
            publisher.subscribe(to: Taken.self) { _ in
            } onGap: { _ in
                log.add("Taken")
            },
            publisher.subscribe(to: Moved.self) { _ in
            } onGap: { _ in
                log.add("Moved")
            },
        ]
        let stream = publisher.events(in: Warehouse1.self)
        publisher.deliver(lost, in: Warehouse1.self)
        publisher.deliver(Taken(number: 7), stamp: stamp(7, epoch: 9))
        #expect(Set(log.values) == ["Stored", "Taken"] && log.count == 2)
        #expect(await stream.take(2) == ["gap 4...6 (?, lost)", "Taken(number: 7)"])
        withExtendedLifetime(subscriptions) {}
    }
    @Test("a gap for types that nobody subscribed to does nothing")
    func unwantedGap() {
        EventPublisher().deliver(lost, to: [Stored.self])
    }

    @Test("interest begins with the first and ends with the last subscriber, of any kind")
    func interest() async {
        let interests = Interests()
        let publisher = EventPublisher(delivery: .immediate, interest: interests)
        let tap = publisher.tap { _ in }
        #expect(interests.wanted == [])
        let first = publisher.subscribe(to: Stored.self) { _ in
        } onGap: { _ in
        }
        let second = publisher.subscribe(to: Stored.self, delivery: .background) { _ in
        } onGap: { _ in
        }
        #expect(interests.wanted == ["Stored"] && interests.calls == 1)
        first.cancel()
        #expect(interests.wanted == ["Stored"])
        let stream = publisher.events(in: Warehouse1.self)
        #expect(interests.wanted == ["Stored", "Taken"])
        second.cancel()
        #expect(interests.wanted == ["Stored", "Taken"])
        stream.cancel()
        #expect(interests.wanted == [])
        do {
            let object = GapObject()
            object.follow(publisher)
            object.follow(publisher)
            #expect(interests.wanted == ["Stored"])
            publisher.unsubscribe(object)
        }
        #expect(interests.wanted == [] && interests.faults == [])
        tap.cancel()
    }
    @Test("a dead object's interest ends with the next event of its type")
    func deadInterest() async {
        let interests = Interests()
        let publisher = EventPublisher(delivery: .immediate, interest: interests)
        var object: GapObject? = GapObject()
        object!.follow(publisher)
        object = nil
        publisher.publish(Stored(number: 1))
        #expect(await eventually { interests.wanted == [] })
    }
    @Test("whatever threads subscribe and cancel at once, the observer's last word is right")
    func concurrentInterest() async {
        for round in 0..<20 {
            let interests = Interests()
            let publisher = EventPublisher(delivery: .immediate, interest: interests)
            let kept = Log<Subscription>()
            await withTaskGroup { group in
                for thread in 0..<4 {
                    group.addTask {
                        for number in 0..<100 {
                            let subscription = publisher.subscribe(to: Stored.self) { _ in
                            } onGap: { _ in
                            }
                            // When subscribing returns, the observer knows of it.
                            if !interests.wanted.contains("Stored") { kept.add(subscription) }
                            let stream = publisher.events(in: Warehouse1.self)
                            if number == 99 && thread == 0 && round % 2 == 0 { kept.add(subscription) }
                            stream.cancel()
                            if round % 2 == 1 || thread != 0 { subscription.cancel() }
                        }
                    }
                }
            }
            #expect(interests.wanted == (round % 2 == 0 ? ["Stored"] : []))
            #expect(kept.count == (round % 2 == 0 ? 1 : 0))
            #expect(interests.faults == [])
        }
    }
}

private final class GapObject: Sendable {
    let seen = Log<String>()
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Stored.self) {
            $0.seen.add("\($1.number)")
        } onGap: {
            $0.seen.add(text($1))
        }
    }
}
