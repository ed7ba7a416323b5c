import TestTraits
import Dispatch
import RelayEvents
import RelayTestKit
import Testing

@MainActor private final class ChartView {
    private(set) var seen: [WindowEvent] = []
    func follow(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: WindowEvent.self) {
            $0.seen.append($1)
        } onGap: { _, _ in
        }
    }
}

extension DispatchQueue {
    static let isHere = DispatchSpecificKey<String>()
    static func marked(_ label: String) -> DispatchQueue {
        let queue = DispatchQueue(label: label)
        queue.setSpecific(key: isHere, value: label)
        return queue
    }
}

@Suite("Publishing within a process") struct PublishingTests {
    @Test("an enum with payloads is an event, for closures, objects and streams")
    @MainActor func enums() async {
        let publisher = EventPublisher(delivery: .mainActor)
        let (chart, log) = (ChartView(), Log<WindowEvent>())
        chart.follow(publisher)
        let subscription = publisher.subscribe(to: WindowEvent.self) {
            log.add($0)
        } onGap: { _ in
        }
        let stream = publisher.events(of: WindowEvent.self)
        let events: [WindowEvent] = [.changeDateRange(DateRange(first: 1, last: 7)), .unselectApplication(3)]
        for event in events { publisher.publish(event) }
        #expect(await eventually { log.values == events && chart.seen == events })
        var streamed: [WindowEvent] = []
        for await case .event(let event, _) in stream {
            streamed.append(event)
            if streamed.count == 2 { break }
        }
        #expect(streamed == events)
        subscription.cancel()
    }

    @Test("an event reaches the subscribers of its own type only")
    func types() {
        let publisher = EventPublisher(delivery: .immediate)
        let log = Log<String>()
        let subscriptions = [
            publisher.subscribe(to: Numbered.self, delivery: .immediate) {
                log.add("numbered \($0.number)")
            } onGap: { _ in
            },
            publisher.subscribe(to: Lettered.self, delivery: .immediate) {
                log.add("lettered \($0.number)")
            } onGap: { _ in
            },
        ]
        publisher.publish(Numbered(number: 1))
        publisher.publish(Lettered(number: 2))
        publisher.publish(WindowEvent.unselectApplication(3))
        #expect(log.values == ["numbered 1", "lettered 2"])
        withExtendedLifetime(subscriptions) {}
    }

    @Test("publishers are independent of one another")
    func independent() {
        let (first, second) = (EventPublisher(delivery: .immediate), EventPublisher(delivery: .immediate))
        let log = Log<Int>()
        let subscription = first.subscribe(to: Numbered.self, delivery: .immediate) {
            log.add($0.number)
        } onGap: { _ in
        }
        second.publish(Numbered(number: 2))
        first.publish(Numbered(number: 1))
        #expect(log.values == [1])
        subscription.cancel()
    }

    @Test("a handler on no actor runs where its publisher says: immediately")
    func immediateDefault() {
        let publisher = EventPublisher(delivery: .immediate)
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 1))
        #expect(log.values == [1])
        subscription.cancel()
    }
    @Test("a handler on no actor runs where its publisher says: on a queue, gaps too")
    func queueDefault() {
        let queue = DispatchQueue.marked("default")
        let publisher = EventPublisher(delivery: .queue(queue))
        let log = Log<String>()
        queue.suspend()
        let subscription = publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(1)) { event in
            log.add("\(event.number) \(DispatchQueue.getSpecific(key: DispatchQueue.isHere) ?? "elsewhere")")
        } onGap: { gap in
            log.add("gap \(gap.count ?? -1) \(DispatchQueue.getSpecific(key: DispatchQueue.isHere) ?? "elsewhere")")
        }
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        queue.resume()
        queue.sync {}
        #expect(log.values == ["gap 2 default", "3 default"])
        subscription.cancel()
    }
    @Test("a handler on no actor runs where its publisher says: on the main actor")
    func mainActorDefault() async {
        let publisher = EventPublisher(delivery: .mainActor)
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self) { event in
            MainActor.assertIsolated()
            log.add(event.number)
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 1))
        #expect(await eventually { log.values == [1] })
        subscription.cancel()
    }
    @Test("a handler on no actor runs where its publisher says: in the background, in order")
    func backgroundDefault() async {
        let publisher = EventPublisher()
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
        for number in 0..<500 { publisher.publish(Numbered(number: number)) }
        #expect(await eventually { log.count == 500 })
        #expect(log.values == Array(0..<500))
        subscription.cancel()
    }
    @Test("a handler on no actor runs where its publisher says: when a foreign loop drains")
    func pollableDefault() throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 1))
        #expect(log.values.isEmpty)
        target.drain()
        #expect(log.values == [1])
        subscription.cancel()
    }
    @Test("a handler on no actor runs where its publisher says: on an actor, which is kept")
    func actorDefault() async {
        actor Place {}
        let publisher = EventPublisher(delivery: .actor(Place()))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
        let other = EventPublisher().subscribe(to: Numbered.self, delivery: .actor(Place())) { _ in
        } onGap: { _ in
        }
        publisher.publish(Numbered(number: 1))
        #expect(await eventually { log.values == [1] })
        subscription.cancel()
        other.cancel()
    }
    @Test("a gap handler on an actor takes a handler on none along")
    func gapHandlerDecides() async {
        let publisher = EventPublisher(delivery: .immediate)
        let log = Log<String>()
        await MainActor.run {
            let subscription = publisher.subscribe(to: Numbered.self, plain { log.add("\($0.number)") }) { _ in
                MainActor.assertIsolated()
                log.add("gap")
            }
            publisher.publish(Numbered(number: 1))
            // At once: it is published there.
            #expect(log.values == ["1"])
            publisher.deliver(Gap(2...2, epoch: 1, count: 1, reason: .lost), to: [Numbered.self])
            #expect(log.values == ["1"])
            Task {
                #expect(await eventually { log.values == ["1", "gap"] })
                subscription.cancel()
            }
        }
        #expect(await eventually { log.values == ["1", "gap"] })
    }
    private func plain(_ body: @escaping @Sendable (Numbered) -> Void) -> @Sendable (Numbered) -> Void { body }

    @Test("a tap sees every event, and no longer when cancelled")
    func taps() {
        let publisher = EventPublisher(delivery: .immediate)
        let log = Log<String>()
        let tap = publisher.tap { log.add("\($0)") }
        publisher.publish(Numbered(number: 1))
        publisher.publish(Stored(number: 2))
        #expect(tap.isActive)
        tap.cancel()
        publisher.publish(Numbered(number: 3))
        #expect(log.values == ["Numbered(number: 1)", "Stored(number: 2)"])
        #expect(!tap.isActive)
    }

    @Test("a domain event's name is its type's, unless it has another")
    func names() {
        #expect(Stored.name == "Stored")
        #expect(Taken.name == "Removed")
        #expect(Warehouse1.contract.events.map { $0.name } == ["Stored", "Removed"])
    }
}
