import Synchronization

/// Where a service or a journal reports what goes wrong while it runs: to the handler that its program chose.
///
/// - Order: notices reach the handler one at a time, in the order in which they were reported.
/// - Isolation: `report` may be called from any thread, under any lock, and never waits for the handler, which runs on
///   a thread of its own: a log that blocks blocks nothing else.
/// - Loss: past the rate limit (`NoticeRateLimiter`), and past 64 notices that the handler has not taken, they are only
///   counted, by kind.
package final class NoticeReporter: Sendable {
    package typealias Handler = @Sendable (Notice) -> Void
    private static let queueLimit = 64

    private struct State {
        var limiter: NoticeRateLimiter
        var queue: [Notice] = []
        /// Left out because the queue was full, by kind: the next of that kind counts them.
        var dropped: [Notice.Kind: Int] = [:]
        var hasThread = false
        var hasTimer = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// All that was reported, by kind, whether it reached the handler or not.
        var counts: [Notice.Kind: Int] = [:]

        mutating func append(_ notice: Notice) {
            if queue.count >= NoticeReporter.queueLimit {
                dropped[notice.kind, default: 0] += 1 + notice.suppressed
                return
            }
            var notice = notice
            notice.suppressed += dropped.removeValue(forKey: notice.kind) ?? 0
            queue.append(notice)
        }
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }
    private let handler: Handler
    private let timing: NoticeTiming
    private let state: Mutex<State>

    package init(_ handler: @escaping Handler, _ timing: NoticeTiming = NoticeTiming()) {
        (self.handler, self.timing) = (handler, timing)
        state = Mutex(State(limiter: NoticeRateLimiter(timing)))
    }

    /// Reports something, unless there is too much of its kind.
    ///
    /// - Parameter message: what happened and the remedy, without line breaks. Evaluated only if it is reported, now or
    ///   later.
    /// - Parameter subject: what it concerns.
    /// - Parameter cause: the error that a handler threw.
    package func report(
        _ kind: Notice.Kind, _ severity: Notice.Severity, _ message: @autoclosure () -> String,
        of subject: @autoclosure () -> Notice.Subject = Notice.Subject(), cause: (any Error)? = nil
    ) {
        let now = MonotonicClock.now
        let (mustStart, due) = state.withLock { state -> (Bool, UInt64?) in
            state.counts[kind, default: 0] += 1
            if let notice = state.limiter.admit(
                kind, severity, message, of: subject, cause: cause, now: now)
            {
                state.append(notice)
                return (Self.needsThread(&state), nil)
            }
            return (false, Self.needsTimer(&state))
        }
        if mustStart { startThread() }
        if let due { startTimer(due, now) }
    }
    /// How often each kind was reported so far.
    package var counts: [Notice.Kind: Int] { state.withLock { $0.counts } }
    /// Reports what was left out, and returns when the handler has had everything, or `patience` is over.
    package func finish(patience: Duration? = nil) async {
        let patience = patience ?? timing.finish
        let mustStart = state.withLock { state in
            for notice in state.limiter.finish() { state.append(notice) }
            return Self.needsThread(&state)
        }
        if mustStart { startThread() }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.hasThread { state.waiters.append(continuation) }
                return !state.hasThread
            }
            if isIdle { return continuation.resume() }
            OwnTimer(after: patience) { [weak self] in
                guard let self else { return }
                for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
            }
        }
    }

    // MARK: Later

    private static func needsTimer(_ state: inout State) -> UInt64? {
        if state.hasTimer { return nil }
        defer { state.hasTimer = state.limiter.nextDue != nil }
        return state.limiter.nextDue
    }
    /// For what was left out. Does not keep this alive.
    private func startTimer(_ due: UInt64, _ now: UInt64) {
        OwnTimer(after: .nanoseconds(due > now ? due - now : 0)) { [weak self] in self?.timerFired() }
    }
    private func timerFired() {
        let now = MonotonicClock.now
        let (mustStart, due) = state.withLock { state in
            state.hasTimer = false
            for notice in state.limiter.due(now: now) { state.append(notice) }
            return (Self.needsThread(&state), Self.needsTimer(&state))
        }
        if mustStart { startThread() }
        if let due { startTimer(due, now) }
    }

    // MARK: The handler's thread

    private static func needsThread(_ state: inout State) -> Bool {
        if state.hasThread || state.queue.isEmpty { return false }
        state.hasThread = true
        return true
    }
    /// A thread for as long as there is something to report: that is seldom.
    private func startThread() {
        do throws(SystemError) {
            try OwnThread.start("notices") { self.deliver() }
        } catch {
            // No threads left: the queue waits for the next notice, whose thread may be had.
            let waiters = state.withLock { state in
                state.hasThread = false
                return state.takeWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }
    private func deliver() {
        while true {
            let (notice, waiters) = state.withLock { state -> (Notice?, [CheckedContinuation<Void, Never>]) in
                guard let first = state.queue.first else {
                    state.hasThread = false
                    return (nil, state.takeWaiters())
                }
                state.queue.removeFirst()
                return (first, [])
            }
            for waiter in waiters { waiter.resume() }
            guard let notice else { return }
            handler(notice)
        }
    }
}

/// When notices are reported, and how long a handler has for the last ones.
package struct NoticeTiming: Hashable, Sendable {
    /// In which so many of a kind are reported: a log that is read by people takes a few lines a minute.
    package var interval = Duration.seconds(60)
    /// For the handler at the end: a log that blocks must not keep a service from ending.
    package var finish = Duration.seconds(1)

    package init() {}
}

/// Which notices are reported and which are only counted, as a value.
///
/// Of each kind the first `burst` of a minute are reported. The rest are counted; when the minute is over, the first of
/// them is reported with the number of the others. While a kind keeps coming, there is one a minute. Times are
/// nanoseconds of a monotonic clock. `NoticeTiming` has the minute.
struct NoticeRateLimiter {
    static let burst = 5
    private let interval: UInt64

    private struct Window {
        let end: UInt64
        var reported: Int
        /// The first that was left out.
        var first: Notice?
        var suppressed = 0
    }
    /// A kind that was quiet for a whole interval is forgotten.
    private var windows: [Notice.Kind: Window] = [:]

    init(_ timing: NoticeTiming = NoticeTiming()) { interval = MonotonicClock.nanoseconds(timing.interval) }

    /// When `due` has something to report; nil if nothing was left out.
    var nextDue: UInt64? { windows.values.lazy.filter { $0.suppressed > 0 }.map(\.end).min() }

    /// The notice, if it is to be reported now.
    ///
    /// - Parameter message: is evaluated only if it can be reported at all, now or later.
    /// - Parameter subject: likewise.
    mutating func admit(
        _ kind: Notice.Kind, _ severity: Notice.Severity, _ message: () -> String,
        of subject: () -> Notice.Subject = { Notice.Subject() }, cause: (any Error)? = nil, now: UInt64
    ) -> Notice? {
        var window = windows[kind] ?? Window(end: now + interval, reported: 0)
        if window.end <= now && window.suppressed == 0 { window = Window(end: now + interval, reported: 0) }
        defer { windows[kind] = window }
        if window.reported < Self.burst {
            window.reported += 1
            return Notice(kind, severity, message(), of: subject(), cause: cause)
        }
        if window.first == nil { window.first = Notice(kind, severity, message(), of: subject(), cause: cause) }
        window.suppressed += 1
        return nil
    }
    /// Takes what was left out in the intervals that are over by `now`, by kind.
    mutating func due(now: UInt64) -> [Notice] {
        var notices: [Notice] = []
        for (kind, window) in windows.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where window.end <= now {
            guard let notice = Self.summary(window) else {
                windows[kind] = nil
                continue
            }
            notices.append(notice)
            // It did not stop: from here on one a minute.
            windows[kind] = Window(end: now + interval, reported: Self.burst)
        }
        return notices
    }
    /// Takes all that was left out, at the end.
    mutating func finish() -> [Notice] {
        defer { windows = [:] }
        return windows.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { Self.summary($0.value) }
    }
    private static func summary(_ window: Window) -> Notice? {
        guard var notice = window.first else { return nil }
        notice.suppressed = window.suppressed - 1
        return notice
    }
}
