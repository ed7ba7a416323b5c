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
        let subscription = publisher.subscribe(to: Numbered.self) {
            log.add($0.number)
        } onGap: { _ in
        }
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
        let subscription = publisher.subscribe(to: Numbered.self) { event in
            log.add(event.number)
            publisher.publish(Numbered(number: event.number + 1))
        } onGap: { _ in
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
        let subscription = publisher.subscribe(to: Numbered.self) { event in
            log.add(event.number)
            target.drain()
        } onGap: { _ in
        }
        for number in 1...3 { publisher.publish(Numbered(number: number)) }
        target.drain()
        #expect(log.values == [1, 2, 3])
        subscription.cancel()
    }
    @Test("a drain inside a handler runs what was due behind it: a nested main loop may wait for that")
    func nestedBatch() throws {
        let target = try PollableTarget()
        let (asking, answering) = (
            EventPublisher(delivery: .pollable(target)), EventPublisher(delivery: .pollable(target))
        )
        let log = Log<String>()
        let dialog = asking.subscribe(to: Numbered.self) { _ in
            log.add("asks")
            #expect(isReadable(target))
            target.drain()
            #expect(!isReadable(target))
            log.add("goes on")
        } onGap: { _ in
        }
        let answer = answering.subscribe(to: Numbered.self) { _ in
            log.add("answer")
        } onGap: { _ in
        }
        asking.publish(Numbered(number: 1))
        answering.publish(Numbered(number: 1))
        target.drain()
        #expect(log.values == ["asks", "answer", "goes on"])
        #expect(!isReadable(target))
        withExtendedLifetime((dialog, answer)) {}
    }
    @Test("one that is polled by a loop gets all events of several publishing threads")
    func loop() async throws {
        let target = try PollableTarget()
        let publisher = EventPublisher(delivery: .pollable(target))
        let log = Log<Int>()
        let subscription = publisher.subscribe(to: Numbered.self, buffer: .bufferingNewest(10_000)) {
            log.add($0.number)
        } onGap: { _ in
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
            let subscription = publisher.subscribe(to: Numbered.self, delivery: .pollable(target)) {
                _ in
            } onGap: { _ in
            }
            publisher.publish(Numbered(number: 1))
            subscription.cancel()
        }
        #expect(gone == nil)
    }

    // MARK: As an executor

    /// On the loop's thread, as an actor.
    private actor Window {
        nonisolated let target: PollableTarget
        nonisolated var unownedExecutor: UnownedSerialExecutor { target.asUnownedSerialExecutor() }
        private var events = 0
        init(_ target: PollableTarget) { self.target = target }
        func run(_ body: @Sendable () -> Void) { body() }
        nonisolated func callback() { assumeIsolated { $0.events = 0 } }
        func subscribe(to publisher: EventPublisher, _ threads: Log<UInt>) -> Subscription {
            publisher.subscribe(to: Numbered.self) { _ in
                self.events += 1
                threads.add(pthread_self())
            } onGap: { _ in
            }
        }
    }
    /// Drains on a thread of its own until the end. Notes the thread, and a 0 when it is over.
    private func drain(_ target: PollableTarget, until isOver: Log<Bool>, _ threads: Log<UInt>) throws {
        try OwnThread.start("loop") {
            threads.add(pthread_self())
            while isOver.count == 0 {
                var descriptor = pollfd(fd: target.fileDescriptor, events: Int16(POLLIN), revents: 0)
                if poll(&descriptor, 1, 10) == 1 { target.drain() }
            }
            threads.add(0)
        }
    }

    @Test("tasks and actors with it as their executor run on the thread that drains, also after a suspension")
    func executor() async throws {
        let (target, isOver, threads, seen) = (try PollableTarget(), Log<Bool>(), Log<UInt>(), Log<UInt>())
        try drain(target, until: isOver, threads)
        let window = Window(target)
        await Task(executorPreference: target) {
            seen.add(pthread_self())
            try? await Task.sleep(for: .milliseconds(1))
            seen.add(pthread_self())
            await window.run { seen.add(pthread_self()) }
        }.value
        let publisher = EventPublisher()
        let subscription = await window.subscribe(to: publisher, seen)
        publisher.publish(Numbered(number: 1))
        #expect(await eventually { seen.count == 4 })
        subscription.cancel()
        isOver.add(true)
        #expect(await eventually { threads.count == 2 })
        let loop = try #require(threads.values.first)
        #expect(seen.values == [loop, loop, loop, loop])
    }
    @Test("a drain within a step of a task runs no other task's step: that comes next")
    func nestedStep() async throws {
        let (target, log) = (try PollableTarget(), Log<String>())
        let window = Window(target)
        let task = Task {
            await window.run {
                // It is due at once.
                Task(executorPreference: target) { log.add("inner") }
                target.drain()
                log.add("outer")
            }
        }
        #expect(
            await eventually {
                if isReadable(target) { target.drain() }
                return log.count == 2
            })
        await task.value
        #expect(log.values == ["outer", "inner"])
        #expect(!isReadable(target))
    }
    @Test(
        "code on the loop's thread is isolated to its actors; before the first drain, code on that which made the target"
    )
    func isolation() async throws {
        let (isOver, threads) = (Log<Bool>(), Log<UInt>())
        let target = try PollableTarget()
        let window = Window(target)
        // No suspension since it was made.
        #expect(target.isIsolatingCurrentContext() == true)
        window.callback()
        try drain(target, until: isOver, threads)
        await Task(executorPreference: target) { #expect(target.isIsolatingCurrentContext() == true) }.value
        await Task.detached { #expect(target.isIsolatingCurrentContext() == false) }.value
        isOver.add(true)
        #expect(await eventually { threads.count == 2 })
    }
}
