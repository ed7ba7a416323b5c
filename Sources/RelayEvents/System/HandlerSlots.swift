/// Which of a pool's jobs runs on which thread, as a value.
///
/// As many jobs run at once as there are processors. A job that has had its thread for longer than `patience` is taken to
/// block there, and another one may run beside it: so threads are added while they block, and not while they compute.
/// Invariants: a job waits only while as many run as may, or every thread is taken; jobs begin in the order in which they
/// came.
package struct HandlerSlots<Job> {
    /// A thread, by its number.
    package typealias Worker = Int
    /// A job that begins now, and where.
    package enum Start {
        /// On a thread that waits for one.
        case wake(Worker, Job)
        /// On a thread that does not exist yet.
        case begin(Worker, Job)
    }
    package let width: Int
    package let limit: Int
    /// In nanoseconds.
    package let patience: UInt64
    /// Those that are not known to block, the oldest first.
    private var running: [(worker: Worker, since: UInt64)] = []
    private var idle: [Worker] = []
    private var jobs = Deque<Job>()
    private var next = 0
    /// How many threads there are.
    package private(set) var threads = 0

    /// - Parameters:
    ///   - width: how many jobs compute at once.
    ///   - limit: how many threads there are at most; at least `width`.
    ///   - patience: after how many nanoseconds a job is taken to block.
    package init(width: Int, limit: Int, patience: UInt64) {
        (self.width, self.limit, self.patience) = (max(width, 1), max(limit, width, 1), patience)
    }
    /// Jobs for which there is no thread now.
    package var waiting: Int { jobs.count }
    /// Threads that run a job.
    package var taken: Int { threads - idle.count }
    /// When `look` has something to find: nil while no job waits, or every thread is taken.
    package var deadline: UInt64? {
        if jobs.isEmpty || !hasThread { return nil }
        return running.first.map { $0.since &+ patience }
    }
    private var hasThread: Bool { !idle.isEmpty || threads < limit }

    /// A job has come. Nil: it waits.
    package mutating func add(_ job: Job, now: UInt64) -> Start? {
        jobs.append(job)
        return look(now: now)
    }
    /// Whether the next job begins. Asked again after each that does.
    package mutating func look(now: UInt64) -> Start? {
        if jobs.isEmpty || !hasThread { return nil }
        if running.count >= width {
            running.removeAll { $0.since &+ patience <= now }
            if running.count >= width { return nil }
        }
        guard let job = jobs.popFirst() else { return nil }
        if let worker = idle.popLast() {
            running.append((worker, now))
            return .wake(worker, job)
        }
        threads += 1
        next += 1
        running.append((next, now))
        return .begin(next, job)
    }
    /// A thread is through with its job, and gets its next one; nil: it waits.
    package mutating func finish(_ worker: Worker, now: UInt64) -> Job? {
        running.removeAll { $0.worker == worker }
        if running.count < width, let job = jobs.popFirst() {
            running.append((worker, now))
            return job
        }
        idle.append(worker)
        return nil
    }
    /// A thread ends, unless it has got a job meanwhile.
    package mutating func leave(_ worker: Worker) -> Bool {
        guard let index = idle.firstIndex(of: worker) else { return false }
        idle.remove(at: index)
        threads -= 1
        return true
    }
    /// The thread that should begin cannot be had: its job is run elsewhere. Others may begin in its place: `look`.
    package mutating func lose(_ worker: Worker) {
        running.removeAll { $0.worker == worker }
        threads -= 1
    }
}
