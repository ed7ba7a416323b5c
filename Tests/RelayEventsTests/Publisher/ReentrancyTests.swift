import TestTraits
import Dispatch
import RelayEvents
import RelayTestKit
import Testing

@Suite("Handlers that publish, subscribe and cancel") struct ReentrancyTests {
    static let places: [@Sendable () -> DeliveryTarget] = [
        { .immediate }, { .background }, { .mainActor }, { .queue(DispatchQueue(label: "serial")) },
        { .queue(.global()) },
    ]

    @Test("a subscription released inside its own handler is called no more", arguments: places.indices)
    func releasedInside(_ place: Int) async {
        let publisher = EventPublisher()
        let (log, holder) = (Log<Int>(), Holder<Subscription>())
        let fence = Log<Int>()
        let delivery = Self.places[place]()
        holder.hold(
            publisher.subscribe(to: Numbered.self, delivery: delivery) { event in
                log.add(event.number)
                if event.number == 2 { holder.hold(nil) }
            } onGap: { _ in
            })
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        #expect(await eventually { log.count >= 2 && holder.value == nil })
        let after = publisher.subscribe(to: Numbered.self, delivery: delivery) {
            fence.add($0.number)
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 4))
        #expect(await eventually { fence.values == [4] })
        #expect(log.values == [1, 2])
        after.cancel()
    }

    @Test("a handler may subscribe, publish and cancel", arguments: places.indices)
    func changesInside(_ place: Int) async {
        let publisher = EventPublisher()
        let (log, inner) = (Log<Int>(), Log<Int>())
        let holder = Holder<[Subscription]>()
        let delivery = Self.places[place]()
        let outer = publisher.subscribe(to: Numbered.self, delivery: delivery) { event in
            log.add(event.number)
            if event.number == 1 {
                holder.hold([
                    publisher.subscribe(to: Numbered.self, delivery: delivery) {
                        inner.add($0.number)
                    } onGap: { _ in
                    }
                ])
                publisher.publish(Numbered(number: 2))
            } else if event.number == 2 {
                publisher.publish(Lettered(number: 3))
            }
        } onGap: { _ in
        }
        let last = publisher.subscribe(to: Lettered.self, delivery: delivery) { event in
            log.add(event.number)
            holder.hold(nil)
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 1))
        #expect(await eventually { log.values == [1, 2, 3] && holder.value == nil })
        // One that is subscribed inside a handler sees what is published from then on, not the event being delivered.
        #expect(!inner.values.contains(1))
        outer.cancel()
        last.cancel()
    }

    @Test(
        "subscribing, publishing, cancelling and releasing from several threads at once is safe",
        arguments: places.indices)
    func storm(_ place: Int) async {
        let publisher = EventPublisher()
        let log = Log<Int>()
        let delivery = Self.places[place]()
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    for number in 1...400 { publisher.publish(Numbered(number: number)) }
                }
                group.addTask {
                    for _ in 0..<200 {
                        let subscription = publisher.subscribe(
                            to: Numbered.self, delivery: delivery, buffer: .bufferingNewest(4)
                        ) {
                            log.add($0.number)
                        } onGap: { _ in
                            log.add(0)
                        }
                        await Task.yield()
                        if Bool.random() { subscription.cancel() }
                    }
                }
                group.addTask {
                    for _ in 0..<100 {
                        let stream = publisher.events(of: Numbered.self, buffer: .bufferingNewest(2))
                        let loop = Task { for await _ in stream {} }
                        await Task.yield()
                        if Bool.random() { loop.cancel() } else { stream.cancel() }
                        await loop.value
                    }
                }
            }
        }
        // Still in working order.
        let fence = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self, delivery: delivery) {
            fence.add($0.number)
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 7))
        #expect(await eventually { fence.values == [7] })
        subscription.cancel()
    }

    @Test("cancelling from another thread while events are delivered is safe, and ends them", arguments: places.indices)
    func cancelledElsewhere(_ place: Int) async {
        let publisher = EventPublisher()
        for _ in 0..<50 {
            let log = Log<Int>()
            let subscription = publisher.subscribe(to: Numbered.self, delivery: Self.places[place]()) {
                log.add($0.number)
            } onGap: { _ in
            }
            let flood = Task.detached {
                for number in 1...100 { publisher.publish(Numbered(number: number)) }
            }
            let cancel = Task.detached { subscription.cancel() }
            await flood.value
            await cancel.value
            #expect(!subscription.isActive)
            #expect(log.values == log.values.sorted())
        }
    }

    @Test("an event or a handler whose deinit cancels, publishes or subscribes does no harm when it is dropped")
    func deinitsInside() {
        final class ActingAtDeinit: Sendable {
            let publisher: EventPublisher, held: Subscription
            init(_ publisher: EventPublisher) {
                self.publisher = publisher
                held = publisher.subscribe(to: Lettered.self, delivery: .immediate) { _ in
                } onGap: { _ in
                }
            }
            deinit {
                publisher.publish(Lettered(number: 1))
                publisher.subscribe(to: Lettered.self, delivery: .immediate) { _ in
                } onGap: { _ in
                }.cancel()
                held.cancel()
            }
        }
        struct Loaded: Event { let object: ActingAtDeinit }
        let publisher = EventPublisher()
        let queue = DispatchQueue(label: "stopped")
        queue.suspend()
        let newest = publisher.subscribe(
            to: Loaded.self, delivery: .queue(queue), buffer: .bufferingNewest(1)
        ) { _ in
        } onGap: { _ in
        }
        let stream = publisher.events(of: Loaded.self, buffer: .bufferingNewest(1))
        for _ in 0..<100 { publisher.publish(Loaded(object: ActingAtDeinit(publisher))) }
        for _ in 0..<200 {
            let object = ActingAtDeinit(publisher)
            let passing = publisher.subscribe(to: Loaded.self, delivery: .queue(queue)) { _ in
                withExtendedLifetime(object) {}
            } onGap: { _ in
            }
            publisher.publish(Loaded(object: ActingAtDeinit(publisher)))
            passing.cancel()
        }
        stream.cancel()
        newest.cancel()
        queue.resume()
        queue.sync {}
    }
}
