import CRelayShims
import Glibc

/// A delivery target for GLib, Qt or a game loop: a descriptor to poll, and a function to call when it is readable.
///
/// ```swift
/// let target = try PollableTarget()
/// let relay = try EventRelay(following: name, interfaces: Printing1.self, delivery: .pollable(target))
/// // In the main loop, when target.fileDescriptor is readable:
/// target.drain()
/// ```
///
/// A pollable target is also an executor. A task with this executor preference runs on the loop's thread, and so does
/// an actor that uses it as its executor:
///
/// ```swift
/// Task(executorPreference: target) {
///     let outcome = await relay.outcome(of: CancelJob(jobID: 7))
///     show("\(outcome)")
/// }
/// ```
///
/// ```swift
/// actor JobWindow {
///     nonisolated let target: PollableTarget
///     nonisolated var unownedExecutor: UnownedSerialExecutor { target.asUnownedSerialExecutor() }
///     init(_ target: PollableTarget) { self.target = target }
/// }
/// ```
///
/// docs/MAIN_LOOPS.md shows whole programs.
///
/// - Order: that of `publish`, across event types. Tasks resume in the order in which they became ready.
/// - Isolation: handlers and tasks run on the thread that calls ``drain()``. Use one thread.
/// - Loss: each subscription has its own buffer, which overflows if the loop does not drain for too long.
/// - Cancellation: cancel its subscriptions, or drain it a last time, before you release it. Keep the target as long as
///   tasks use it, because a task does not retain it.
public final class PollableTarget: Sendable {
    /// The descriptor to poll. It is readable (`POLLIN`) while calls are due. Only poll it. It is close-on-exec, and
    /// stays open as long as this object lives.
    public let fileDescriptor: Int32
    private let state = PublishingLock(State())
    private struct State {
        /// At most one for each delivery and each task, so bounded by their number.
        var due = Deque<Job>()
        /// Steps of tasks that a drain met within another step: actors are not entered twice.
        var held: [UnownedJob] = []
        var isInStep = false
        /// The loop's.
        var thread = pthread_self()
    }
    private enum Job {
        case delivery(any PlacedDelivery)
        case other(@Sendable () -> Void)
        case step(UnownedJob)
    }

    /// Creates a target.
    ///
    /// - Throws: `.unavailable` if the process has no descriptors left.
    public init() throws {
        fileDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if fileDescriptor < 0 {
            throw RelayError(
                .unavailable,
                "no descriptor for a pollable target: errno \(errno); raise the limit of open files")
        }
    }
    deinit { close(fileDescriptor) }

    /// Runs the calls that are due at this moment, on the calling thread.
    ///
    /// You may call it within a handler, or between two suspensions of a task, as a nested main loop does. It then
    /// skips the running handler, and other tasks resume after the running task has been suspended. Everything else
    /// that is due runs.
    public func drain() {
        var left = state.withLock { state in
            state.thread = pthread_self()
            // What made it readable may have been forgotten.
            if state.due.isEmpty { setUnreadable() }
            return state.due.count
        }
        // What becomes due meanwhile waits for the next call, so that the loop gets its turn.
        while left > 0, let job = next() {
            left -= 1
            switch job {
            case .delivery(let delivery): delivery.drain()
            case .other(let body): body()
            case .step(let step): run(step)
            }
        }
    }
    /// One at a time: a drain within its handler has to find the others, for which a nested main loop may wait.
    private func next() -> Job? {
        state.withLock { state in
            let job = state.due.popFirst()
            if job != nil && state.due.isEmpty { setUnreadable() }
            return job
        }
    }
    /// Under the lock, as all that the descriptor shows: it is readable while something is due.
    private func setUnreadable() {
        var count: UInt64 = 0
        // Takes the count back to zero. It cannot block, and its result is known already.
        _ = read(fileDescriptor, &count, MemoryLayout.size(ofValue: count))
    }
    private func run(_ step: UnownedJob) {
        let runs = state.withLock { state in
            if state.isInStep { state.held.append(step) }
            defer { state.isInStep = true }
            return !state.isInStep
        }
        if !runs { return }
        step.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        state.withLock { state in
            state.isInStep = false
            let held = state.held.map { Job.step($0) }
            state.held = []
            add(held, &state)
        }
    }
    func enqueue(_ delivery: any PlacedDelivery) { enqueue(.delivery(delivery)) }
    func enqueue(_ body: @escaping @Sendable () -> Void) { enqueue(.other(body)) }
    private func enqueue(_ job: Job) { state.withLock { add([job], &$0) } }
    private func add(_ jobs: [Job], _ state: inout State) {
        let wasEmpty = state.due.isEmpty
        for job in jobs { state.due.append(job) }
        if !wasEmpty || jobs.isEmpty { return }
        var one: UInt64 = 1
        // Can fail only at the counter's limit, and it is 0 here.
        _ = write(fileDescriptor, &one, MemoryLayout.size(ofValue: one))
    }
    /// What nobody waits for is due no more: it and this target would keep each other. Returned, if it was due, to
    /// be released where no lock is held. The descriptor may stay readable: `drain()` then finds nothing.
    func forget(_ delivery: any PlacedDelivery) -> (any PlacedDelivery)? {
        state.withLock { state in
            let count = state.due.count
            state.due.filter { if case .delivery(let known) = $0 { known !== delivery } else { true } }
            return state.due.count < count ? delivery : nil
        }
    }
}

extension PollableTarget: SerialExecutor, TaskExecutor {
    /// Queues a step of a task for ``drain()``. The concurrency runtime calls this.
    ///
    /// - Parameter job: the step.
    public func enqueue(_ job: consuming ExecutorJob) { enqueue(.step(UnownedJob(job))) }
    /// Ends the program unless the caller is on the loop's thread: the thread that drained last, or that made this
    /// target if none has drained. `assumeIsolated` and similar functions call this.
    public func checkIsolated() {
        precondition(isOnThread, "this is not the thread that drains the pollable target")
    }
    /// Whether the caller is on the loop's thread.
    ///
    /// - Returns: true on the thread that drained last, or that made this target if none has drained.
    public func isIsolatingCurrentContext() -> Bool? { isOnThread }
    private var isOnThread: Bool { state.withLock { $0.thread } == pthread_self() }
}

/// Somebody to wake for a delivery.
enum Wakeup: Sendable {
    case notify(QueueConsumer<Void>.Notification, of: Mailbox)
    case deliver(StreamBuffer.Consumer.Waiter, EventQueue.Item)
    case finish(StreamBuffer.Consumer.Waiter)

    func run() {
        switch self {
        case .notify(let notification, let mailbox): notification.run { mailbox.schedule() }
        case .deliver(let waiter, let item): waiter.resume(returning: item)
        case .finish(let waiter): waiter.resume(returning: nil)
        }
    }
}
