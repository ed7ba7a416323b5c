import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayEvents

@Suite("The consumer of a queue") struct QueueConsumerTests {
    /// Hands numbers to tasks, as the buffer of a stream hands events.
    private final class Numbers: Sendable {
        private struct State {
            var held: [Int] = []
            var isOver = false
            var consumer = QueueConsumer<Int?>()
        }
        private let state = Mutex(State())

        var waits: Bool { state.withLock { $0.consumer.isWaiting } }
        func give(_ number: Int) {
            let waiter = state.withLock { state in
                let waiter = state.consumer.takeFirst()
                if waiter == nil { state.held.append(number) }
                return waiter
            }
            waiter?.resume(returning: number)
        }
        func end() {
            let waiters = state.withLock { state in
                state.isOver = true
                return state.consumer.takeAll()
            }
            for waiter in waiters { waiter.resume(returning: nil) }
        }
        func take() async -> Int? {
            let ticket = state.withLock { $0.consumer.makeTicket() }
            return await QueueConsumer<Int?>.wait(isolation: nil, cancelled: nil) { waiter in
                state.withLock { state -> Int?? in
                    if Task.isCancelled { return .some(nil) }
                    if !state.held.isEmpty { return state.held.removeFirst() }
                    if state.isOver { return .some(nil) }
                    state.consumer.add(waiter, ticket)
                    return nil
                }
            } leave: {
                state.withLock { $0.consumer.remove(ticket) }
            }
        }
    }

    @Test("each number goes to one task, whichever tasks are cancelled meanwhile, and none is left waiting")
    func cancelled() async {
        let numbers = Numbers()
        let taken = Log<Int>()
        let tasks = (0..<64).map { _ in Task { while let number = await numbers.take() { taken.add(number) } } }
        // All tasks but the last one are cancelled: some while they wait, some while they take.
        for number in 0..<1_000 {
            numbers.give(number)
            if number % 16 == 0 { tasks[number / 16].cancel() }
            if number % 7 == 0 { await Task.yield() }
        }
        numbers.end()
        for task in tasks { await task.value }
        #expect(taken.values.sorted() == Array(0..<1_000))
        #expect(!numbers.waits)
    }
    @Test("tasks get what comes in the order in which they began to wait, without those that were cancelled")
    func order() async {
        let numbers = Numbers()
        let (first, second) = (Task { await numbers.take() }, Log<Int>())
        #expect(await eventually { numbers.waits })
        let others = Task { for _ in 0..<2 { if let number = await numbers.take() { second.add(number) } } }
        first.cancel()
        #expect(await first.value == nil)
        #expect(await eventually { numbers.waits })
        numbers.give(1)
        numbers.give(2)
        await others.value
        #expect(second.values == [1, 2])
    }
    @Test("one that waits for a call is called once for all news, and again after it found nothing")
    func called() {
        var consumer = QueueConsumer<Void>()
        var calls = 0
        func notify() { consumer.notify().run { calls += 1 } }
        #expect(consumer.isResting && !consumer.foundNothing)
        notify()
        notify()
        #expect(calls == 1 && !consumer.isResting && !consumer.isNotified)
        consumer.rest()
        #expect(consumer.isResting && consumer.foundNothing)
        notify()
        notify()
        #expect(calls == 2 && consumer.isNotified)
        consumer.take()
        notify()
        #expect(calls == 2 && !consumer.isNotified)
    }
}
