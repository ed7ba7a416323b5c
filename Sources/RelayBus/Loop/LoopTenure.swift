/// Which thread has a loop, and the short jobs that it runs between its turns, as a value.
///
/// A job of users that has proved short runs on the loop's thread, which saves a change of threads. One that takes long
/// after all holds that thread: then the watching thread takes the loop over, and the jobs behind that one run elsewhere.
/// Invariants: a lent job runs once, here or elsewhere; one thread at a time has the loop; a thread that has lost it
/// learns that before it touches the loop again.
struct LoopTenure<Job> {
    /// The number of the thread that has the loop.
    private(set) var holder: UInt64 = 0
    private var jobs: [Job] = []
    /// When the one that runs began, in nanoseconds.
    private(set) var since: UInt64?
    private var wasUsed = false
    /// The watching thread will look.
    private(set) var isWatched = false

    var isEmpty: Bool { jobs.isEmpty && since == nil }

    /// Behind the turn. Returns whether somebody has to be sent to watch.
    mutating func lend(_ job: Job) -> Bool {
        jobs.append(job)
        wasUsed = true
        defer { isWatched = true }
        return !isWatched
    }
    enum Next {
        case run(Job)
        /// Nothing is left: the loop goes on.
        case none
        /// Another thread has the loop.
        case lost
    }
    /// What the thread of this number does next, having run what it got before.
    mutating func next(_ thread: UInt64, now: UInt64) -> Next {
        if thread != holder { return .lost }
        since = jobs.isEmpty ? nil : now
        return jobs.isEmpty ? .none : .run(jobs.removeFirst())
    }
    /// What is left of the jobs, which run elsewhere: together they take too long.
    mutating func takeAll() -> [Job] {
        defer { jobs = [] }
        return jobs
    }
    enum Look {
        /// Nobody lends: whoever lends next sends for the watch.
        case rest
        /// In so many nanoseconds.
        case again(UInt64)
        /// The loop is the watching thread's from now on, by this number; the jobs run elsewhere.
        case takeOver(UInt64, [Job])
    }
    /// The watching thread looks.
    mutating func look(now: UInt64, patience: UInt64) -> Look {
        guard let since else {
            isWatched = wasUsed || !jobs.isEmpty
            wasUsed = false
            return isWatched ? .again(patience) : .rest
        }
        if now &- since < patience { return .again(patience - (now &- since)) }
        holder += 1
        (self.since, wasUsed, isWatched) = (nil, false, false)
        return .takeOver(holder, takeAll())
    }
}
