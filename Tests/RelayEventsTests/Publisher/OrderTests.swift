import Dispatch
import RelayEvents
import RelayTestKit
import TestTraits
import Testing

private actor Collector {
    private(set) var numbers: [Int] = []
    func follow(_ publisher: EventPublisher) -> [Subscription] {
        [
            publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(100_000)) {
                self.numbers.append($0.number)
            } onGap: { _ in
            },
            publisher.subscribe(to: Lettered.self, buffer: .bufferingNewest(100_000)) {
                self.numbers.append(-$0.number)
            } onGap: { _ in
            },
        ]
    }
    /// As an object, for two types.
    func followWeakly(_ publisher: EventPublisher) {
        publisher.subscribe(self, to: Numbered.self, buffer: .bufferingNewest(100_000)) { me, event in
            me.numbers.append(event.number)
        } onGap: { _, _ in
        }
        publisher.subscribe(self, to: Lettered.self, buffer: .bufferingNewest(100_000)) { me, event in
            me.numbers.append(-event.number)
        } onGap: { _, _ in
        }
    }
}

@Suite("Order within a process", .tags(.g1)) struct OrderTests {
    /// Four threads publish two types.
    private func publishAll(_ publisher: EventPublisher, each count: Int = 2_000) async {
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 1...count {
                        let id = thread * 100_000 + number
                        if number % 3 == 0 {
                            publisher.publish(Lettered(number: id))
                        } else {
                            publisher.publish(Numbered(number: id))
                        }
                    }
                }
            }
        }
    }
    private func isInOrderOfEachThread(_ numbers: [Int]) -> Bool {
        (0..<4).allSatisfy { thread in
            let own = numbers.map(abs).filter { $0 / 100_000 == thread }
            return own == own.sorted() && Set(own).count == own.count
        }
    }

    @Test("two types from four threads come in one order at every actor, queue and pollable target")
    func oneOrder() async throws {
        let publisher = EventPublisher()
        let collectors = [Collector(), Collector()]
        let weak = Collector()
        var subscriptions: [Subscription] = []
        for collector in collectors { subscriptions += await collector.follow(publisher) }
        await weak.followWeakly(publisher)
        let target = try PollableTarget()
        let places: [DeliveryTarget] = [
            .queue(DispatchQueue(label: "serial")), .queue(.global()), .pollable(target),
        ]
        let logs = places.map { _ in Log<Int>() }
        for (place, log) in zip(places, logs) {
            subscriptions += [
                publisher.subscribe(
                    to: Numbered.self, delivery: place, buffer: .bufferingNewest(100_000)
                ) {
                    log.add($0.number)
                } onGap: { _ in
                },
                publisher.subscribe(
                    to: Lettered.self, delivery: place, buffer: .bufferingNewest(100_000)
                ) {
                    log.add(-$0.number)
                } onGap: { _ in
                },
            ]
        }
        await publishAll(publisher)
        target.drain()
        #expect(
            await eventually {
                for collector in collectors + [weak] where await collector.numbers.count < 8_000 { return false }
                return logs.allSatisfy { $0.count == 8_000 }
            })
        let reference = await collectors[0].numbers
        #expect(isInOrderOfEachThread(reference))
        #expect(await collectors[1].numbers == reference)
        #expect(await weak.numbers == reference)
        for log in logs { #expect(log.values == reference) }
        withExtendedLifetime(subscriptions) {}
    }

    @Test("subscriptions that name a queue anew each time share its order: the main and the global queue")
    func queueIdentity() async {
        let publisher = EventPublisher()
        let log = Log<Int>()
        let subscriptions = [
            publisher.subscribe(
                to: Numbered.self, delivery: .queue(.global()), buffer: .bufferingNewest(10_000)
            ) {
                log.add($0.number)
            } onGap: { _ in
            },
            publisher.subscribe(
                to: Lettered.self, delivery: .queue(.global()), buffer: .bufferingNewest(10_000)
            ) {
                log.add($0.number)
            } onGap: { _ in
            },
        ]
        for number in 0..<3_000 {
            if number % 2 == 0 {
                publisher.publish(Numbered(number: number))
            } else {
                publisher.publish(Lettered(number: number))
            }
        }
        #expect(await eventually { log.count == 3_000 })
        #expect(log.values == Array(0..<3_000))
        withExtendedLifetime(subscriptions) {}
    }

    @Test("an interface's stream has its events from four threads in the order of their sequence, none twice")
    func interfaceOrder() async {
        let publisher = EventPublisher()
        let stream = publisher.events(in: Warehouse1.self, buffer: .bufferingNewest(100_000))
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 1...500 {
                        if thread % 2 == 0 {
                            publisher.publish(Stored(number: number))
                        } else {
                            publisher.publish(Taken(number: number))
                        }
                    }
                }
            }
        }
        var sequences: [UInt64] = []
        for await case .event(_, let stamp) in stream {
            sequences.append(stamp.sequence)
            if sequences.count == 2_000 { break }
        }
        #expect(sequences == Array(1...2_000))
    }

    @Test("stamps name the preceding event of the same type")
    func previous() async {
        let publisher = EventPublisher()
        let stream = publisher.events(in: Warehouse1.self)
        publisher.publish(Stored(number: 1))
        publisher.publish(Numbered(number: 2))
        publisher.publish(Taken(number: 3))
        publisher.publish(Stored(number: 4))
        var stamps: [Stamp] = []
        for await case .event(_, let stamp) in stream {
            stamps.append(stamp)
            if stamps.count == 3 { break }
        }
        #expect(stamps.map(\.sequence) == [1, 3, 4])
        #expect(stamps.map(\.previous) == [0, 0, 1])
        #expect(Set(stamps.map(\.epoch)).count == 1)
        #expect(stamps.allSatisfy { $0.publishedAt.microseconds > 0 })
    }

    @Test("a nested immediate publish is delivered depth first, a buffered one in order")
    func nested() {
        let queue = DispatchQueue(label: "buffered")
        let publisher = EventPublisher(delivery: .immediate)
        let (first, second, buffered) = (Log<Int>(), Log<Int>(), Log<Int>())
        queue.suspend()
        let subscriptions = [
            publisher.subscribe(to: Numbered.self, delivery: .queue(queue)) {
                buffered.add($0.number)
            } onGap: { _ in
            },
            publisher.subscribe(to: Numbered.self, delivery: .immediate) { event in
                first.add(event.number)
                if event.number < 3 { publisher.publish(Numbered(number: event.number + 1)) }
            } onGap: { _ in
            },
            publisher.subscribe(to: Numbered.self, delivery: .immediate) {
                second.add($0.number)
            } onGap: { _ in
            },
        ]
        publisher.publish(Numbered(number: 1))
        queue.resume()
        queue.sync {}
        #expect(first.values == [1, 2, 3])
        #expect(second.values == [3, 2, 1])
        #expect(buffered.values == [1, 2, 3])
        withExtendedLifetime(subscriptions) {}
    }
}
