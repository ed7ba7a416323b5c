import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayEvents

private actor Counter {
    private(set) var numbers: [Int] = []
    func subscribe(_ publisher: EventPublisher) -> Subscription {
        publisher.subscribe(to: Numbered.self) {
            self.numbers.append($0.number)
        } onGap: { _ in
        }
    }
}

@globalActor private actor OtherActor { static let shared = OtherActor() }
/// What handlers on the main actor have seen.
@MainActor private final class Seen {
    private(set) var list: [String] = []
    func add(_ text: String) { list.append(text) }
}

/// Handlers that are isolated to the main actor, as closures in top-level code are.
@MainActor @Suite("A publisher that delivers at once, and the main actor", .tags(.g1, .g2)) struct AtOnceTests {
    /// Runs code on another thread while this one waits.
    private func elsewhere(_ body: @escaping @Sendable () -> Void) throws {
        let isDone = Flag()
        try OwnThread.start("elsewhere") {
            body()
            isDone.set()
        }
        isDone.await()
    }
    private final class Flag: Sendable {
        private let isSet = Atomic(false)
        func set() { isSet.store(true, ordering: .releasing) }
        func await() { while !isSet.load(ordering: .acquiring) { sched_yield() } }
    }

    @Test("what is published on the main actor has been handled when publish returns") func atOnce() {
        let publisher = EventPublisher(delivery: .immediate)
        let seen = Seen()
        let subscription = publisher.subscribe(to: Numbered.self) {
            seen.add("\($0.number)")
        } onGap: { _ in
        }
        for number in 1...3 {
            publisher.publish(Numbered(number: number))
            #expect(seen.list.last == "\(number)")
        }
        subscription.cancel()
        publisher.publish(Numbered(number: 4))
        #expect(seen.list == ["1", "2", "3"])
    }
    @Test("what another thread published before comes first, and without another publish it comes soon")
    func order() async throws {
        let publisher = EventPublisher(delivery: .immediate)
        let seen = Seen()
        let subscriptions = [
            publisher.subscribe(to: Numbered.self) {
                seen.add("number \($0.number)")
            } onGap: { _ in
            },
            publisher.subscribe(to: Lettered.self) {
                seen.add("letter \($0.number)")
            } onGap: { _ in
            },
        ]
        try elsewhere {
            publisher.publish(Numbered(number: 1))
            publisher.publish(Lettered(number: 2))
        }
        #expect(seen.list.isEmpty)
        publisher.publish(Numbered(number: 3))
        #expect(seen.list == ["number 1", "letter 2", "number 3"])
        try elsewhere { publisher.publish(Lettered(number: 4)) }
        #expect(await eventually { seen.list.count == 4 })
        #expect(seen.list.last == "letter 4")
        withExtendedLifetime(subscriptions) {}
    }
    @Test("a handler that publishes sees no event out of order") func nested() {
        let publisher = EventPublisher(delivery: .immediate)
        let seen = Seen()
        let subscriptions = [
            publisher.subscribe(to: Numbered.self) { event in
                seen.add("a\(event.number)")
                if event.number < 3 { publisher.publish(Numbered(number: event.number + 1)) }
            } onGap: { _ in
            },
            publisher.subscribe(to: Numbered.self) {
                seen.add("b\($0.number)")
            } onGap: { _ in
            },
        ]
        publisher.publish(Numbered(number: 1))
        #expect(seen.list == ["a1", "b1", "a2", "b2", "a3", "b3"])
        withExtendedLifetime(subscriptions) {}
    }
    @Test("a handler that publishes is waited for all the time, also within one that nobody waits for") func runner() {
        let publisher = EventPublisher(delivery: .immediate)
        let seen = Seen()
        let thread = pthread_self()
        func note(_ name: String) { seen.add("\(name) \(publisher.isHandling(on: thread))") }
        let subscriptions = [
            publisher.subscribe(to: Numbered.self) { _ in
                note("outer")
                publisher.publish(Lettered(number: 2))
                note("outer")
            } onGap: { _ in
            },
            // Its gap handler is elsewhere: the two may wait for each other.
            publisher.subscribe(to: Lettered.self) { @MainActor _ in
                note("inner")
            } onGap: { @OtherActor _ in
            },
        ]
        publisher.publish(Numbered(number: 1))
        #expect(seen.list == ["outer true", "inner true", "outer true"])
        publisher.publish(Lettered(number: 3))
        #expect(seen.list.last == "inner false")
        withExtendedLifetime(subscriptions) {}
    }
    @Test("what overflowed meanwhile is a gap in its place, also for a gap handler on another actor")
    func gaps() async throws {
        let publisher = EventPublisher(delivery: .immediate)
        let (seen, apart, apartGaps) = (Seen(), Seen(), Log<String>())
        let counter = Counter()
        let onCounter = await counter.subscribe(publisher)
        let subscriptions = [
            publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(2)) {
                seen.add("\($0.number)")
            } onGap: {
                seen.add(text($0))
            },
            publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(2)) { @MainActor event in
                apart.add("\(event.number)")
            } onGap: { @OtherActor gap in
                apartGaps.add(text(gap))
            },
        ]
        publisher.publish(Numbered(number: 1))
        #expect(seen.list == ["1"] && apart.list == ["1"])
        try elsewhere { for number in 2...5 { publisher.publish(Numbered(number: number)) } }
        publisher.publish(Numbered(number: 6))
        #expect(await eventually { seen.list.last == "6" && apart.list.last == "6" })
        #expect(seen.list.contains { $0.hasPrefix("gap 2") } && apartGaps.values.contains { $0.hasPrefix("gap 2") })
        #expect(await eventually { await counter.numbers == [1, 2, 3, 4, 5, 6] })
        withExtendedLifetime((subscriptions, onCounter)) {}
    }
    @Test("counts of gaps add up to the largest number, and no further") func sums() {
        let publisher = EventPublisher(delivery: .immediate)
        let subscription = publisher.subscribe(to: Numbered.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        for epoch in UInt64(1)...3 {
            let gap = Gap(1...(.max - 1), epoch: epoch, count: .max, reason: .lost)
            publisher.deliver(gap, to: [Numbered.self])
        }
        #expect(subscription.missed == .max)
    }
}

/// A publisher's observer to which nothing but `Stored` ever comes.
private final class OnlyStored: InterestObserver {
    func objection<E: Event>(to type: E.Type) -> Gap? {
        type == Stored.self
            ? nil : Gap(1...UInt64.max, epoch: 0, count: nil, reason: .notFollowed, detail: "\(E.self) never comes")
    }
    func interestBegan<E: Event>(in type: E.Type) {}
    func interestEnded<E: Event>(in type: E.Type) {}
}

@Suite("Subscriptions to what nothing brings", .tags(.g2)) struct ObjectionTests {
    private final class Object: Sendable {
        let gaps = Log<String>()
    }
    @Test("each subscription, of any kind, gets one gap that says why; what can come is left alone") func each() async {
        let publisher = EventPublisher(delivery: .immediate, interest: OnlyStored())
        let (gaps, none) = (Log<String>(), Log<Gap>())
        func subscribe(_ delivery: DeliveryTarget, _ name: String) -> Subscription {
            publisher.subscribe(to: Moved.self, delivery: delivery) { _ in
            } onGap: {
                gaps.add("\(name): \($0.detail ?? "")")
            }
        }
        let good = publisher.subscribe(to: Stored.self, delivery: .immediate) { _ in
        } onGap: {
            none.add($0)
        }
        let first = subscribe(.immediate, "first")
        #expect(gaps.values == ["first: Moved never comes"])
        let second = subscribe(.background, "second")
        #expect(await eventually { gaps.values == ["first: Moved never comes", "second: Moved never comes"] })
        #expect(first.missed == 1 && second.missed == 1 && first.isActive)
        second.cancel()
        let (object, other) = (Object(), publisher.events(of: Moved.self))
        publisher.subscribe(object, to: Moved.self) { _, _ in
        } onGap: {
            $0.gaps.add($1.detail ?? "")
        }
        let expected = ["gap 1...\(UInt64.max) (?, notFollowed)"]
        #expect(await other.take(1) == expected)
        #expect(await publisher.events(in: Elsewhere1.self).take(1) == expected)
        #expect(await eventually { object.gaps.values == ["Moved never comes"] })
        #expect(gaps.count == 2 && none.count == 0)
        withExtendedLifetime((good, first)) {}
    }
}
