import TestTraits
import RelayEvents
import RelayTestKit
import Testing

@Suite("Event streams") struct StreamTests {
    @Test("a stream holds events from the moment it was asked for, not from its first iteration")
    func startsAtOnce() async {
        let publisher = EventPublisher()
        publisher.publish(Numbered(number: 0))
        let stream = publisher.events(of: Numbered.self)
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        #expect(await stream.take(3) == ["1", "2", "3"])
    }
    @Test("a waiting consumer gets events and gaps as they come")
    func waiting() async {
        let publisher = EventPublisher()
        let stream = publisher.events(of: Numbered.self)
        let seen = Log<String>()
        let consumer = Task {
            for await delivery in stream {
                switch delivery {
                case .event(let event, _): seen.add("\(event.number)")
                case .gap(let gap): seen.add(text(gap))
                }
            }
        }
        publisher.publish(Numbered(number: 1))
        #expect(await eventually { seen.values == ["1"] })
        publisher.deliver(Gap(4...5, epoch: 1, count: 2, reason: .lost), to: [Numbered.self])
        #expect(await eventually { seen.values == ["1", "gap 4...5 (2, lost)"] })
        #expect(stream.missed == 2)
        stream.cancel()
        await consumer.value
    }
    @Test("two iterators share the deliveries: each goes to one of them")
    func twoIterators() async {
        let publisher = EventPublisher()
        let stream = publisher.events(of: Numbered.self, buffer: .bufferingNewest(1_000))
        let seen = Log<Int>()
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    for await case .event(let event, _) in stream {
                        seen.add(event.number)
                        if seen.count == 500 { stream.cancel() }
                    }
                }
            }
            group.addTask { for number in 1...500 { publisher.publish(Numbered(number: number)) } }
        }
        #expect(seen.values.sorted() == Array(1...500))
    }
    @Test("cancelling the task ends its loop, whether it waits or never would")
    func taskCancellation() async {
        let publisher = EventPublisher()
        let stream = publisher.events(of: Numbered.self)
        let waiting = Task { for await _ in stream {} }
        waiting.cancel()
        await waiting.value
        // A loop that feeds itself never finds its stream empty.
        let feeding = Task {
            publisher.publish(Numbered(number: 0))
            for await case .event(let event, _) in stream { publisher.publish(Numbered(number: event.number + 1)) }
        }
        feeding.cancel()
        await feeding.value
        // And takes nothing from the next.
        publisher.publish(Numbered(number: 7))
        var iterator = stream.makeAsyncIterator()
        var last: Int?
        while last != 7 { if case .event(let event, _)? = await iterator.next() { last = event.number } }
    }
    @Test("cancel() ends it for all, and drops what it held")
    func cancel() async {
        let publisher = EventPublisher()
        let stream = publisher.events(of: Numbered.self)
        publisher.publish(Numbered(number: 1))
        let copy = stream
        stream.cancel()
        publisher.publish(Numbered(number: 2))
        #expect(await copy.take(2) == ["end", "end"])
    }
    @Test("releasing the last copy ends the subscription")
    func release() {
        let interests = Interests()
        let publisher = EventPublisher(delivery: .immediate, interest: interests)
        do {
            let stream = publisher.events(of: Numbered.self)
            #expect(interests.wanted == ["Numbered"])
            withExtendedLifetime(stream) {}
        }
        #expect(interests.wanted == [])
    }
    @Test("it ends with its publisher, after what it holds")
    func publisherGoes() async {
        var publisher: EventPublisher? = EventPublisher()
        let stream = publisher!.events(of: Numbered.self)
        let interface = publisher!.events(in: Warehouse1.self)
        let waiting = Task { for await _ in interface {} }
        publisher!.publish(Numbered(number: 1))
        publisher = nil
        #expect(await stream.take(3) == ["1", "end", "end"])
        await waiting.value
    }
    @Test("an ended buffer leaves the publisher")
    func endedLeaves() async {
        let interests = Interests()
        let publisher = EventPublisher(delivery: .immediate, interest: interests)
        let stream = publisher.events(of: Numbered.self, buffer: .ending(after: 1))
        for number in 1...2 { publisher.publish(Numbered(number: number)) }
        #expect(await stream.take(3) == ["1", "gap 2...2 (1, overflow)", "end"])
        #expect(interests.wanted == [])
    }
    @Test("an interface's stream has its events, also one that the contract leaves out, and no others")
    func interface() async {
        let publisher = EventPublisher()
        let stream = publisher.events(in: Warehouse1.self)
        publisher.publish(Stored(number: 1))
        publisher.publish(Moved(number: 2))
        publisher.publish(Unlisted(number: 3))
        publisher.publish(Numbered(number: 4))
        publisher.publish(Taken(number: 5))
        #expect(await stream.take(3) == ["Stored(number: 1)", "Unlisted(number: 3)", "Taken(number: 5)"])
        stream.cancel()
        publisher.publish(Stored(number: 6))
        #expect(await stream.take(1) == ["end"])
    }
}
