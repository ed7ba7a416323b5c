import TestTraits
import Dispatch
import RelayEvents
import RelayTestKit
import Testing

private actor Canceller {
    private var subscription: Subscription?
    private(set) var afterCancel = 0
    private(set) var cancelled = 0

    /// Cancels on its own isolation, in the middle of a flood, again and again.
    func run(_ publisher: EventPublisher, rounds: Int) async {
        for round in 1...rounds {
            subscription = publisher.subscribe(to: Numbered.self) { _ in
                if self.cancelled >= round { self.afterCancel += 1 }
            } onGap: { _ in
            }
            for number in 0..<20 { publisher.publish(Numbered(number: number)) }
            // Every other time nothing can be delivered before the cancellation: all of it would come late.
            if round % 2 == 0 { await Task.yield() }
            subscription?.cancel()
            cancelled = round
            await Task.yield()
        }
    }
}
@MainActor private final class MainCanceller {
    var subscription: Subscription?
    var afterCancel = 0
    func run(_ publisher: EventPublisher, rounds: Int) async {
        for _ in 0..<rounds {
            subscription = publisher.subscribe(to: Numbered.self) { _ in
                if self.subscription == nil { self.afterCancel += 1 }
            } onGap: { _ in
            }
            for number in 0..<20 { publisher.publish(Numbered(number: number)) }
            await Task.yield()
            subscription?.cancel()
            subscription = nil
            await Task.yield()
        }
    }
}
/// Its handler awaits, so that it can be unsubscribed in the middle.
@MainActor private final class SlowObject {
    private(set) var begun: [Int] = []
    private(set) var ended: [Int] = []
    let gate: AsyncStream<Void>
    init(gate: AsyncStream<Void>) { self.gate = gate }
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Numbered.self) {
            await $0.on($1)
        } onGap: { _, _ in
        }
    }
    private func on(_ event: Numbered) async {
        begun.append(event.number)
        for await _ in gate { break }
        ended.append(event.number)
    }
}

@Suite("Cancelling a subscription") struct CancellationTests {
    @Test("after cancel() on its own actor no further call comes")
    func onActor() async {
        let publisher = EventPublisher()
        let canceller = Canceller()
        await canceller.run(publisher, rounds: 300)
        #expect(await canceller.afterCancel == 0)
        #expect(await canceller.cancelled == 300)
    }
    @Test("after cancel() on the main actor no further call comes, while another thread publishes")
    @MainActor func onMainActor() async {
        let publisher = EventPublisher()
        let flood = Task.detached {
            var number = 0
            while !Task.isCancelled {
                number += 1
                publisher.publish(Numbered(number: number))
                if number % 50 == 0 { await Task.yield() }
            }
        }
        let canceller = MainCanceller()
        await canceller.run(publisher, rounds: 200)
        flood.cancel()
        await flood.value
        #expect(canceller.afterCancel == 0)
    }
    @Test("after cancel() on its own serial queue no further call comes")
    func onQueue() async {
        let publisher = EventPublisher()
        let queue = DispatchQueue(label: "serial")
        let late = Log<Int>()
        for _ in 0..<300 {
            let cancelled = Log<Bool>()
            let subscription = publisher.subscribe(to: Numbered.self, delivery: .queue(queue)) { _ in
                if cancelled.count > 0 { late.add(1) }
            } onGap: { _ in
            }
            for number in 0..<20 { publisher.publish(Numbered(number: number)) }
            queue.sync {
                subscription.cancel()
                cancelled.add(true)
            }
        }
        queue.sync {}
        #expect(late.count == 0)
    }
    @Test("after cancel() on the draining thread no further call comes from a pollable target")
    func onPollable() throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let holder = Holder<Subscription>()
        holder.hold(
            publisher.subscribe(to: Numbered.self) { event in
                log.add(event.number)
                if event.number == 2 { holder.value?.cancel() }
            } onGap: { _ in
            })
        for number in 1...5 { publisher.publish(Numbered(number: number)) }
        target.drain()
        #expect(log.values == [1, 2])
    }
    @Test("after unsubscribing an object whose handler awaits, that call ends and no further comes")
    @MainActor func duringAwait() async {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let publisher = EventPublisher()
        let object = SlowObject(gate: gate)
        object.follow(publisher)
        let other = Log<Int>()
        let closure = publisher.subscribe(to: Numbered.self) { event in
            MainActor.assertIsolated()
            other.add(event.number)
        } onGap: { _ in
        }
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        #expect(await eventually { object.begun == [1] && other.values == [1, 2, 3] })
        publisher.unsubscribe(object)
        opener.yield()
        #expect(await eventually { object.ended == [1] })
        publisher.publish(Numbered(number: 4))
        #expect(await eventually { other.values == [1, 2, 3, 4] })
        #expect(object.begun == [1])
        closure.cancel()
    }
    @Test("an immediate subscription cancelled by another subscriber's handler is not called for that event")
    func immediate() {
        let publisher = EventPublisher(delivery: .immediate)
        let (log, holder) = (Log<Int>(), Holder<Subscription>())
        let first = publisher.subscribe(to: Numbered.self, delivery: .immediate) { _ in
            holder.value?.cancel()
        } onGap: { _ in
        }
        holder.hold(
            publisher.subscribe(to: Numbered.self, delivery: .immediate) {
                log.add($0.number)
            } onGap: { _ in
            })
        publisher.publish(Numbered(number: 1))
        #expect(log.values.isEmpty)
        first.cancel()
    }
    @Test("release ends a subscription, and cancel() may come any number of times")
    func release() {
        let publisher = EventPublisher(delivery: .immediate)
        let log = Log<Int>()
        var subscription: Subscription? = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
        #expect(subscription?.isActive == true)
        publisher.publish(Numbered(number: 1))
        subscription = nil
        publisher.publish(Numbered(number: 2))
        #expect(log.values == [1])
        let other = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
        other.cancel()
        other.cancel()
        #expect(!other.isActive)
    }
    @Test("a cancelled subscription lets go of what its handler holds, though it is kept itself")
    func letsGo() async {
        final class Captured: Sendable {}
        for delivery in [DeliveryTarget.immediate, .background, .queue(DispatchQueue(label: "queue")), .mainActor] {
            let publisher = EventPublisher()
            var captured: Captured? = Captured()
            weak let gone = captured
            let subscription = publisher.subscribe(to: Numbered.self, delivery: delivery) {
                [captured] _ in
                withExtendedLifetime(captured) {}
            } onGap: { _ in
            }
            captured = nil
            #expect(gone != nil)
            publisher.publish(Numbered(number: 1))
            subscription.cancel()
            #expect(await eventually { gone == nil })
            #expect(!subscription.isActive)
        }
    }
    @Test("subscriptions end with their publisher, after what they hold; its mailboxes end too")
    func publisherGoes() throws {
        let target = try PollableTarget()
        var publisher: EventPublisher? = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = try #require(
            publisher?.subscribe(to: Numbered.self) {
                log.add($0.number)
            } onGap: { _ in
            })
        let immediate = try #require(
            publisher?.subscribe(to: Numbered.self, delivery: .immediate) { _ in
            } onGap: { _ in
            })
        publisher?.publish(Numbered(number: 1))
        publisher = nil
        #expect(!immediate.isActive)
        #expect(subscription.isActive)
        target.drain()
        #expect(log.values == [1])
        #expect(!subscription.isActive)
        subscription.cancel()
    }
    @Test("a handler's captures are released when the publisher goes, also in the background and on an actor")
    func publisherReleasesAll() async {
        final class Captured: Sendable {}
        weak var gone: Captured?
        do {
            let captured = Captured()
            gone = captured
            let publisher = EventPublisher()
            let held = [
                publisher.subscribe(to: Numbered.self, delivery: .background) { _ in
                    withExtendedLifetime(captured) {}
                } onGap: { _ in
                },
                publisher.subscribe(to: Numbered.self, delivery: .mainActor) { _ in
                    withExtendedLifetime(captured) {}
                } onGap: { _ in
                },
            ]
            publisher.publish(Numbered(number: 1))
            withExtendedLifetime(held) {}
        }
        let watched = Weak(gone)
        #expect(await eventually { watched.object == nil })
    }
}

private final class Weak<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?
    init(_ object: Object?) { self.object = object }
}
