import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayEvents

@Suite("Threads for handlers", .heavy, .tags(.g4)) struct HandlerThreadsTests {
    /// Blocks threads until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        let entered = Atomic<Int>(0)
        /// As users' code does it: the thread sleeps.
        func block() {
            entered.add(1, ordering: .relaxed)
            semaphore.wait()
        }
        let ran = Mutex<[Int]>([])
        func run(_ number: Int) { ran.withLock { $0.append(number) } }
        func open(_ count: Int) { for _ in 0..<count { semaphore.signal() } }
    }

    @Test("others go on while as many block as may")
    func blocked() async {
        let (pool, gate) = (HandlerThreads("handlers", limit: 40), Gate())
        let blocked = (0..<39).map { _ in Task.detached(executorPreference: pool) { gate.block() } }
        #expect(await eventually { gate.entered.load(ordering: .relaxed) == 39 })
        for number in 0..<20 {
            #expect(await Task.detached(executorPreference: pool) { number }.value == number)
        }
        #expect(pool.taken >= 39)
        gate.open(39)
        for task in blocked { await task.value }
        #expect(await eventually { pool.taken == 0 && pool.waiting == 0 })
    }
    @Test("past the bound jobs wait, and none is lost")
    func bound() async {
        let (pool, gate) = (HandlerThreads("handlers", width: 1, limit: 3), Gate())
        let blocked = (0..<3).map { _ in Task.detached(executorPreference: pool) { gate.block() } }
        #expect(await eventually { gate.entered.load(ordering: .relaxed) == 3 })
        let waiting = (0..<50).map { number in Task.detached(executorPreference: pool) { gate.run(number) } }
        #expect(await eventually { pool.waiting == 50 })
        #expect(pool.taken == 3 && gate.ran.withLock { $0.isEmpty })
        gate.open(3)
        for task in blocked + waiting { await task.value }
        #expect(gate.ran.withLock { $0.sorted() } == Array(0..<50))
    }
    @Test("what awaits comes back to these threads; what it blocks there blocks nobody else")
    func awaiting() async {
        let (pool, gate) = (HandlerThreads("handlers", width: 1, limit: 4), Gate())
        let task = Task.detached(executorPreference: pool) {
            await Task.yield()
            try? await Task.sleep(for: .milliseconds(1))
            gate.block()
            return pool.taken
        }
        #expect(await eventually { gate.entered.load(ordering: .relaxed) == 1 })
        #expect(pool.taken == 1)
        gate.open(1)
        #expect(await task.value == 1)
    }
    @Test("threads end when they have rested, and others begin when they are needed again")
    func rest() async {
        let pool = HandlerThreads("handlers", width: 2, limit: 8, patience: .zero, rest: .milliseconds(5))
        for round in 1...3 {
            let tasks = (0..<64).map { number in Task.detached(executorPreference: pool) { number } }
            var sum = 0
            for task in tasks { sum += await task.value }
            #expect(sum == 2_016, "round \(round)")
            #expect(await eventually { pool.threads == 0 })
        }
    }
    @Test("many short jobs from many threads all run, while some block")
    func storm() async {
        let pool = HandlerThreads("handlers", width: 2, limit: 16, patience: .microseconds(50), rest: .milliseconds(1))
        let gate = Gate()
        await withTaskGroup { group in
            for submitter in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        let blocks = (number + submitter) % 50 == 0
                        let task = Task.detached(executorPreference: pool) {
                            if blocks { usleep(300) }
                            gate.run(number)
                        }
                        if number % 7 == 0 { await task.value }
                    }
                }
            }
        }
        #expect(await eventually { gate.ran.withLock { $0.count } == 4_000 })
        #expect(await eventually { pool.waiting == 0 && pool.taken == 0 })
    }
}
