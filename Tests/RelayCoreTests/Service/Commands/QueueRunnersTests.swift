import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayEvents

@Suite("Tasks that run queues", .heavy, .tags(.g4)) struct QueueRunnersTests {
    private final class Log: Sendable {
        private let state = Mutex<(notes: [String], tasks: [Int], runners: [QueueRunners.Runner])>(([], [], []))
        func note(_ text: String) { state.withLock { $0.notes.append(text) } }
        /// The task that runs.
        func noteTask(_ runner: QueueRunners.Runner) {
            let task = withUnsafeCurrentTask { $0?.hashValue ?? 0 }
            state.withLock {
                $0.tasks.append(task)
                $0.runners.append(runner)
            }
        }
        var notes: [String] { state.withLock { $0.notes } }
        var tasks: [Int] { state.withLock { $0.tasks } }
        var runners: [QueueRunners.Runner] { state.withLock { $0.runners } }
    }
    private struct Work: QueueRunners.Work {
        let log: Log
        let body: @Sendable () async -> Void

        init(_ log: Log, _ body: @escaping @Sendable () async -> Void = {}) { (self.log, self.body) = (log, body) }
        func run(by runner: QueueRunners.Runner) async {
            log.noteTask(runner)
            if Task.isCancelled { log.note("cancelled before") }
            await body()
            log.note("done")
        }
    }
    private let runners = QueueRunners(on: HandlerThreads("test", rest: .milliseconds(1)))

    /// Runs something, and waits until its task rests again.
    private func run(_ log: Log, _ body: @escaping @Sendable () async -> Void = {}) async {
        let count = log.notes.count
        runners.run(Work(log, body))
        #expect(await eventually { log.notes.count > count })
    }

    @Test("one task runs what comes one after the other; as many as there have to be, what comes together")
    func kept() async {
        let log = Log()
        for _ in 1...100 { await run(log) }
        #expect(log.notes.count == 100)
        // One that comes between a task's end and its rest gets another task.
        #expect(Set(log.tasks).count <= 10)

        let open = Mutex(false)
        let isOpen = Log()
        for _ in 1...5 {
            runners.run(
                Work(isOpen) {
                    isOpen.note("waits")
                    while !open.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
                })
        }
        #expect(await eventually { isOpen.notes.count == 5 })
        #expect(Set(isOpen.tasks).count == 5)
        open.withLock { $0 = true }
        #expect(await eventually { isOpen.notes.count == 10 })
        runners.end()
    }
    @Test("a task begins with what it was made for, wherever it runs and whatever else waits") func own() async throws {
        let log = Log()
        let threads = HandlerThreads("test", rest: .milliseconds(1))
        let runners = QueueRunners(on: threads)
        let slow = try #require(threads.takingJob { runners.run(Work(log) { log.note("slow") }) })
        let short = try #require(threads.takingJob { runners.run(Work(log) { log.note("short") }) })
        threads.run(short)
        #expect(log.notes == ["short", "done"])
        threads.run(slow)
        #expect(log.notes == ["short", "done", "slow", "done"])
        runners.end()
    }
    @Test("a task that was cancelled, by whomever, runs nothing more") func cancelled() async {
        let log = Log()
        await run(log) { withUnsafeCurrentTask { $0?.cancel() } }
        await run(log)
        #expect(log.notes == ["done", "done"])
        runners.run(
            Work(log) {
                while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
                log.note("heeded")
            })
        #expect(await eventually { log.runners.count == 3 })
        log.runners[2].cancel()
        #expect(await eventually { log.notes.suffix(2) == ["heeded", "done"] })
        for _ in 1...10 { await run(log) }
        #expect(!log.notes.contains("cancelled before"))
        #expect(!log.tasks.suffix(10).isEmpty)
        runners.end()
    }
    @Test("behind the end tasks that rest are gone, and what comes still runs") func ended() async {
        final class Thing: Sendable {}
        weak var kept: HandlerThreads?
        let log = Log()
        do {
            let threads = HandlerThreads("test", rest: .milliseconds(1))
            kept = threads
            let runners = QueueRunners(on: threads)
            for _ in 1...3 { runners.run(Work(log)) }
            #expect(await eventually { log.notes.count == 3 })
            runners.end()
            runners.run(Work(log))
            #expect(await eventually { log.notes.count == 4 })
        }
        #expect(await eventually { kept == nil }, "no task keeps its executor")
    }
}
