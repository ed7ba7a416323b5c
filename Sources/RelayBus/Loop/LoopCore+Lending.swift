import CRelayShims
import Synchronization

/// Short jobs of users on the loop's own thread, and the thread that takes the loop over from one that is not.
extension LoopCore {
    /// A job that has taken so long is taken to block: far longer than what has proved short, far shorter than people
    /// notice. Only the loop waits for it, once.
    static var patience: UInt64 { 2_000_000 }
    /// So long in a row, then the socket is looked at; what is left runs elsewhere. In nanoseconds.
    private static var budget: UInt64 { 300_000 }

    /// Whether the calling thread can run a short job behind its turn: it is the loop's own, and can be watched.
    var canLend: Bool { isOwnThread && turn.isMine && hasWatcher() }

    /// Runs a job on this thread behind the turn, where `canLend`.
    func lend(_ job: LentJob) {
        hasLent.store(true, ordering: .relaxed)
        if lending.withLock({ $0.tenure.lend(job) }) { relay_timer_set(watchTimer, Self.patience) }
    }
    /// Starts the thread that watches, unless there is one. False: there can be none.
    private func hasWatcher() -> Bool {
        let mustStart = lending.withLock { lending -> Bool? in
            if lending.isOver || watchTimer < 0 { return nil }
            defer { lending.hasWatcher = true }
            return !lending.hasWatcher
        }
        guard let mustStart else { return false }
        if !mustStart { return true }
        do throws(SystemError) { try OwnThread.start(name) { self.watch() } } catch {
            lending.withLock { $0.hasWatcher = false }
            return false
        }
        return true
    }
    /// Runs what was lent in this turn. False: the thread has lost the loop, and must not touch it.
    func runLent(_ thread: UInt64) -> Bool {
        // Only a thread that ran something can have lost the loop.
        if !hasLent.exchange(false, ordering: .relaxed) { return true }
        let begun = MonotonicClock.now
        var now = begun
        while true {
            if now &- begun > Self.budget {
                for job in lending.withLock({ $0.tenure.takeAll() }) { job.runElsewhere() }
            }
            switch lending.withLock({ $0.tenure.next(thread, now: now) }) {
            case .none: return true
            case .lost: return false
            case .run(let job): job.run()
            }
            now = MonotonicClock.now
        }
    }
    /// No job is lent any more.
    func endLending() {
        lending.withLock { $0.isOver = true }
        if watchTimer >= 0 { relay_timer_set(watchTimer, 1) }
    }
    private func watch() {
        while true {
            relay_timer_wait(watchTimer)
            let (look, isOver) = lending.withLock { lending in
                let look = lending.tenure.look(now: MonotonicClock.now, patience: Self.patience)
                let isOver = lending.isOver && lending.tenure.isEmpty
                if case .takeOver = look { lending.hasWatcher = false }
                return (look, isOver)
            }
            switch look {
            case .takeOver(let thread, let jobs):
                for job in jobs { job.runElsewhere() }
                return run(thread)
            case .again(let nanoseconds): relay_timer_set(watchTimer, max(nanoseconds, 1))
            case .rest: break
            }
            if isOver { return }
        }
    }
}

/// A short job of users.
package struct LentJob: Sendable {
    let run: @Sendable () -> Void
    /// In place of that.
    let runElsewhere: @Sendable () -> Void

    package init(run: @escaping @Sendable () -> Void, orElse runElsewhere: @escaping @Sendable () -> Void) {
        (self.run, self.runElsewhere) = (run, runElsewhere)
    }
}

/// Under a lock of its own: it is looked at while jobs run.
struct LoopLending {
    var tenure = LoopTenure<LentJob>()
    var hasWatcher = false
    /// The loop has been stopped.
    var isOver = false
}
