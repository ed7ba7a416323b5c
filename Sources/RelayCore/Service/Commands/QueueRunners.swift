@_spi(Relay) import RelayEvents
import Synchronization

/// Tasks that run the queues of peers, one queue after the other.
///
/// To make a task costs as much as a short command. So one whose queue is empty waits for the next queue, of whichever
/// peer.
///
/// - Isolation: tasks run on `executor`. A task that was woken on the loop's thread may go on there: see `CommandQueues`.
/// - Cancellation: a task that is cancelled, by `Runner.cancel` or by a handler, gets no further queue.
final class QueueRunners: Sendable {
    /// What runs, and keeps what it needs.
    protocol Work: Sendable {
        func run(by runner: Runner) async
    }
    /// One of the tasks.
    final class Runner: Sendable {
        private let isSpent = Atomic<Bool>(false)
        private let task = Mutex<Task<Void, Never>?>(nil)
        /// What it was made for, until that begins: no other task may take it, since this one's place is that work's.
        private let first: Mutex<(any Work)?>

        fileprivate init(_ first: some Work) { self.first = Mutex(first) }
        fileprivate func takeFirst() -> (any Work)? {
            first.withLock { first in
                defer { first = nil }
                return first
            }
        }
        fileprivate func begin(_ task: Task<Void, Never>) {
            self.task.withLock { $0 = task }
            if isSpent.load(ordering: .acquiring) { cancel() }
        }
        fileprivate func end() {
            spend()
            task.withLock { $0 = nil }
        }
        fileprivate var goesOn: Bool { !isSpent.load(ordering: .acquiring) && !Task.isCancelled }
        /// It gets no further queue.
        func spend() { isSpent.store(true, ordering: .releasing) }
        /// Cancels what it runs.
        func cancel() {
            spend()
            task.withLock { $0 }?.cancel()
        }
    }
    private struct State {
        /// The last that came to rest is woken first: its memory is warm.
        var resting: [UnsafeContinuation<(any Work)?, Never>] = []
        var isOver = false
    }
    private let state = Mutex(State())
    private let executor: HandlerThreads
    /// So many wait for queues at most. Each has a few hundred bytes.
    private static let limit = 64

    init(on executor: HandlerThreads) { self.executor = executor }

    /// Has a task run something.
    func run(_ work: some Work) {
        if let resting = state.withLock({ $0.resting.popLast() }) { return resting.resume(returning: work) }
        let runner = Runner(work)
        let task = Task.detached(executorPreference: executor) { [self] in
            if let first = runner.takeFirst() { await first.run(by: runner) }
            // Between two queues nothing is kept of the service.
            while let work = await next(runner) { await work.run(by: runner) }
            runner.end()
        }
        runner.begin(task)
    }
    private func next(_ runner: Runner) async -> (any Work)? {
        guard runner.goesOn else { return nil }
        return await withUnsafeContinuation { continuation in
            let next = state.withLock { state -> (any Work)?? in
                if state.isOver || state.resting.count >= Self.limit { return .some(nil) }
                state.resting.append(continuation)
                return nil
            }
            if let next { continuation.resume(returning: next) }
        }
    }
    /// Ends the tasks, as soon as they rest.
    func end() {
        let resting = state.withLock { state in
            state.isOver = true
            defer { state.resting = [] }
            return state.resting
        }
        for one in resting { one.resume(returning: nil) }
    }
}
