import TestTraits
import Glibc
import RelayEvents
import RelayTestKit
import Testing

@Suite("Pollable targets") struct PollableTargetTests {
    private func isReadable(_ target: PollableTarget) -> Bool {
        var descriptor = pollfd(fd: target.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    @Test("its descriptor is readable while something is due, and close-on-exec")
    func readable() throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self, onGap: .ignore) { log.add($0.number) }
        #expect(!isReadable(target))
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        #expect(isReadable(target))
        target.drain()
        #expect(!isReadable(target))
        #expect(log.values == [1, 2, 3])
        target.drain()
        #expect(fcntl(target.fileDescriptor, F_GETFD) & FD_CLOEXEC != 0)
        subscription.cancel()
    }
    @Test("what a handler publishes is due again, so that a loop gets its turn")
    func notForEver() throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self, onGap: .ignore) { event in
            log.add(event.number)
            publisher.publish(Numbered(number: event.number + 1))
        }
        publisher.publish(Numbered(number: 1))
        target.drain()
        #expect(log.values == [1])
        #expect(isReadable(target))
        target.drain()
        #expect(log.values == [1, 2])
        subscription.cancel()
    }
    @Test("draining inside a handler delivers no event twice or out of order")
    func nestedDrain() throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self, onGap: .ignore) { event in
            log.add(event.number)
            target.drain()
        }
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        target.drain()
        #expect(log.values == [1, 2, 3])
        subscription.cancel()
    }
    @Test("one that is polled by a loop gets all events of several publishing threads")
    func loop() async throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(10_000), onGap: .ignore) {
            log.add($0.number)
        }
        let publishing = Task.detached {
            await withTaskGroup { group in
                for thread in 0..<3 {
                    group.addTask {
                        for number in 0..<1_000 { publisher.publish(Numbered(number: thread * 10_000 + number)) }
                    }
                }
            }
        }
        // Only ever drained when the descriptor says so.
        #expect(
            await eventually {
                if isReadable(target) { target.drain() }
                return log.count == 3_000
            })
        await publishing.value
        #expect(Set(log.values).count == 3_000)
        subscription.cancel()
    }
    @Test("a target that is let go with something due is released, once its subscriptions are cancelled")
    func released() throws {
        weak var gone: PollableTarget?
        let publisher = EventPublisher()
        do {
            let target = try PollableTarget()
            gone = target
            let subscription = publisher.subscribe(to: Numbered.self, delivery: .pollable(target), onGap: .ignore) {
                _ in
            }
            publisher.publish(Numbered(number: 1))
            subscription.cancel()
        }
        #expect(gone == nil)
    }
}
