/// Calls back at an interval on the loop's thread, for as long as it exists: for a watchdog, which is to notice a loop that
/// hangs.
package final class Heartbeat: Sendable {
    private let core: ServiceCore
    private let interval: Duration
    /// - Parameter commitDelay: for how long the journal has worked on one thing; nil: for no time worth a word.
    private let body: @Sendable (_ commitDelay: Duration?) -> Void
    private let state: LoopBound<CommitWatch>

    fileprivate init(_ core: ServiceCore, every interval: Duration, _ body: @escaping @Sendable (Duration?) -> Void) {
        (self.core, self.interval, self.body) = (core, interval, body)
        state = LoopBound(CommitWatch(limit: MonotonicClock.nanoseconds(core.timing.commit)), on: core.loop)
    }
    fileprivate func begin() {
        core.loop.execute { [weak self] in self?.beat() }
    }
    private func beat() {
        let activity = core.log?.activity ?? LogActivity()
        let delay = state.onLoop.look(activity, now: core.loop.now)
        switch state.onLoop.report {
        case .late?:
            core.notices.report(
                .commitDelayed, .warning,
                "the journal has worked on one commit for \(delay ?? .zero): look at the disk; commands wait, nothing is lost"
            )
        case .over?: core.notices.report(.commitDelayed, .info, "the journal commits again")
        case nil: break
        }
        body(delay)
        core.loop.schedule(after: interval) { [weak self] in self?.beat() }
    }
}
extension EventService {
    /// Calls back when the journal's disk begins to refuse commits, with the reason as a clause, and when it takes them
    /// again, with nil. On one of the journal's threads.
    package func onStorageTrouble(_ body: @escaping @Sendable (_ reason: String?) -> Void) {
        core.log?.onTrouble(body)
    }
    /// Begins to call back at an interval, at once for the first time; until the value is released.
    package func heartbeat(
        every interval: Duration, _ body: @escaping @Sendable (_ commitDelay: Duration?) -> Void
    ) -> Heartbeat {
        let heartbeat = Heartbeat(core, every: interval, body)
        heartbeat.begin()
        return heartbeat
    }
}

/// Whether a log has worked on one thing for long, as a value.
struct CommitWatch {
    enum Report { case late, over }
    /// So long is worth a word, in nanoseconds.
    private let limit: UInt64
    private var turns: UInt64?
    private var since: UInt64 = 0
    private var isLate = false
    /// What the last look found that is new.
    private(set) var report: Report?

    init(limit: UInt64) { self.limit = limit }
    /// Returns for how long it has worked on one thing; nil if that is not worth a word.
    mutating func look(_ activity: LogActivity, now: UInt64) -> Duration? {
        report = nil
        if !activity.isBusy || turns != activity.turns {
            (turns, since) = (activity.turns, now)
            if isLate { (isLate, report) = (false, .over) }
            return nil
        }
        let delay = now - since
        if delay < limit { return nil }
        if !isLate { (isLate, report) = (true, .late) }
        return .nanoseconds(Int64(clamping: delay))
    }
}
