import Dispatch
import Glibc
import Synchronization

/// Threads for the code of users, which may block: a task executor.
///
/// The cooperative pool has a thread for each processor, and none more when one of them sleeps: two handlers that wait for
/// a file stop every task of a process that has two processors. Here other jobs go on, on further threads, up to a bound;
/// past it jobs wait in their order. A thread that has nothing to do ends after a while.
package final class HandlerThreads: TaskExecutor {
    /// How many there are at most, unless it is said. Each is a stack in memory, of which only what is used is there.
    package static let limit = 256
    /// A job that has run for so long is taken to block: far longer than a short one takes, far shorter than people notice.
    package static let patience = Duration.milliseconds(1)
    /// For what is delivered in the background, whichever publisher delivers it: what is bounded is the process's threads.
    package static let ofProcess = HandlerThreads("relay-handlers")
    /// For what Relay itself has to do, of all services and relays: the code of users runs on others, and can hold none.
    package static let own = HandlerThreads("relay-own")

    private final class Thread: Sendable {
        /// Each signal stands for a job in `State.given`.
        let wake = DispatchSemaphore(value: 0)
    }
    private struct State {
        var slots: HandlerSlots<UnownedJob>
        var threads: [Int: Thread] = [:]
        /// Jobs on their way to threads that wait.
        var given: [Int: UnownedJob] = [:]
        var watching = Watching.nobody
    }
    /// The thread that looks after jobs that wait.
    private enum Watching { case nobody, resting, looking }
    private let state: Mutex<State>
    private let name: String
    /// How long a thread waits for another job.
    private let rest: DispatchTimeInterval
    /// What a thread takes itself: the first job that it enqueues here.
    private struct Taker {
        let threads: ObjectIdentifier
        var job: UnownedJob?
    }
    /// Of the calling thread: a `Taker` on its stack.
    private static let taker: pthread_key_t = {
        var key = pthread_key_t()
        // Without a key nobody takes a job: `enqueue` finds none.
        return pthread_key_create(&key, nil) == 0 ? key : .max
    }()
    /// Ends the rest of the watching thread.
    private let watch = DispatchSemaphore(value: 0)

    package init(
        _ name: String, width: Int = max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1),
        limit: Int = HandlerThreads.limit,
        patience: Duration = HandlerThreads.patience, rest: Duration = .seconds(5)
    ) {
        self.name = name
        self.rest = .nanoseconds(Int(clamping: MonotonicClock.nanoseconds(rest)))
        let patience = MonotonicClock.nanoseconds(patience)
        state = Mutex(State(slots: HandlerSlots(width: width, limit: limit, patience: patience)))
    }
    /// Jobs that wait for a thread: all threads block, or the last ones begin in a moment.
    package var waiting: Int { state.withLock { $0.slots.waiting } }
    /// Threads that run a job.
    package var taken: Int { state.withLock { $0.slots.taken } }
    var threads: Int { state.withLock { $0.slots.threads } }

    /// The job that `body` enqueues on the calling thread, for a caller that runs it itself; nil: it enqueued none.
    package func takingJob(_ body: () -> Void) -> UnownedJob? {
        var taker = Taker(threads: ObjectIdentifier(self))
        // Within `body` alone.
        return withUnsafeMutablePointer(to: &taker) { taker in
            let former = pthread_getspecific(Self.taker)
            pthread_setspecific(Self.taker, taker)
            body()
            pthread_setspecific(Self.taker, former)
            return taker.pointee.job
        }
    }
    /// Runs the first job that `body` enqueues on the calling thread, which may wait: no thread has to be woken for it.
    package func runningJob(_ body: () -> Void) { if let job = takingJob(body) { run(job) } }
    package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }
    package func enqueue(_ job: UnownedJob) {
        if let taker = pthread_getspecific(Self.taker)?.assumingMemoryBound(to: Taker.self),
            taker.pointee.job == nil, taker.pointee.threads == ObjectIdentifier(self)
        {
            taker.pointee.job = job
            return
        }
        let now = MonotonicClock.now
        let (start, watch) = state.withLock { state in
            let start = state.slots.add(job, now: now).flatMap { give($0, &state) }
            return (start, self.watch(&state))
        }
        run(start)
        run(watch)
    }

    // MARK: Threads

    private enum Given {
        case wake(Thread)
        case begin(Int, Thread, UnownedJob)
    }
    private func give(_ start: HandlerSlots<UnownedJob>.Start, _ state: inout State) -> Given? {
        switch start {
        case .wake(let worker, let job):
            guard let thread = state.threads[worker] else { return nil }
            state.given[worker] = job
            return .wake(thread)
        case .begin(let worker, let job):
            let thread = Thread()
            state.threads[worker] = thread
            return .begin(worker, thread, job)
        }
    }
    private func run(_ start: Given?) {
        switch start {
        case .wake(let thread): thread.wake.signal()
        case .begin(let worker, let thread, let job): if !begin(worker, thread, job) { startJobs() }
        case nil: break
        }
    }
    /// False: there was no thread for the job, which is Dispatch's now. What waits has to be looked at again.
    private func begin(_ worker: Int, _ thread: Thread, _ job: UnownedJob) -> Bool {
        do throws(SystemError) {
            try OwnThread.start(name) { self.serve(worker, thread, job) }
            return true
        } catch {
            state.withLock { state in
                state.threads[worker] = nil
                state.slots.lose(worker)
            }
            DispatchQueue.global().async { self.run(job) }
            return false
        }
    }
    /// Runs it on the calling thread.
    package func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }

    private func serve(_ worker: Int, _ thread: Thread, _ first: UnownedJob) {
        var next: UnownedJob? = first
        while true {
            if let job = next { run(job) }
            let now = MonotonicClock.now
            let watch = state.withLock { state in
                next = state.slots.finish(worker, now: now)
                return self.watch(&state)
            }
            run(watch)
            if next != nil { continue }
            let hasNone = thread.wake.wait(timeout: .now() + rest) == .timedOut
            if hasNone && state.withLock({ leave(worker, &$0) }) { return }
            // It got one when the time was over: the signal is here, or comes.
            if hasNone { thread.wake.wait() }
            next = state.withLock { $0.given.removeValue(forKey: worker) }
        }
    }
    private func leave(_ worker: Int, _ state: inout State) -> Bool {
        guard state.slots.leave(worker) else { return false }
        state.threads[worker] = nil
        return true
    }

    // MARK: Jobs that wait

    private enum WatchStart { case begin, wake }
    /// What the watching thread needs, if jobs wait that it can find a thread for.
    private func watch(_ state: inout State) -> WatchStart? {
        guard state.slots.deadline != nil else { return nil }
        defer { state.watching = .looking }
        switch state.watching {
        case .nobody: return .begin
        case .resting: return .wake
        case .looking: return nil
        }
    }
    private func run(_ start: WatchStart?) {
        switch start {
        case .wake: watch.signal()
        case .begin:
            do throws(SystemError) {
                try OwnThread.start("\(name)-watch") { self.watchJobs() }
            } catch {
                // Then a job waits until another one ends.
                state.withLock { $0.watching = .nobody }
            }
        case nil: break
        }
    }
    private func watchJobs() {
        while true {
            let deadline = state.withLock { state in
                if state.slots.deadline == nil { state.watching = .resting }
                return state.slots.deadline
            }
            if let deadline {
                let now = MonotonicClock.now
                if deadline > now { usleep(UInt32((deadline - now) / 1_000 + 1)) }
                startJobs()
            } else if watch.wait(timeout: .now() + rest) == .timedOut {
                let isOver = state.withLock { state in
                    if state.watching == .resting { state.watching = .nobody }
                    return state.watching == .nobody
                }
                if isOver { return }
                // Woken when the time was over: the signal is here, or comes.
                watch.wait()
            }
        }
    }
    private func startJobs() {
        while true {
            let now = MonotonicClock.now
            let start = state.withLock { state in state.slots.look(now: now).flatMap { give($0, &state) } }
            switch start {
            case .wake(let thread)?: thread.wake.signal()
            case .begin(let worker, let thread, let job)?: _ = begin(worker, thread, job)
            case nil: return
            }
        }
    }
}
