import CRelayShims
import Glibc
import Synchronization

/// The thread of one bus connection: an epoll loop over descriptors, timers and jobs.
///
/// - Order: jobs run in the order of `execute`, one at a time, never under a lock.
/// - Isolation: descriptor handlers, timers and jobs run on this one thread.
/// - Cancellation: `stop()` ends the thread after the job at hand; jobs given later are dropped.
package final class BusLoop: Sendable {
    package typealias Job = @Sendable () -> Void
    package typealias Handler = @Sendable (_ events: UInt32) -> Void

    private struct State {
        var jobs: [Job] = []
        var timers = TimerQueue<Job>()
        var handlers: [UInt64: Handler] = [:]
        var lastHandler: UInt64 = 0
        var isStopped = false
        var isWoken = false
        var thread: pthread_t?
    }
    private let epoll: Int32
    private let wakeup: Int32
    private let name: String
    private let state = Mutex(State())
    private static let wakeupID: UInt64 = 0

    /// Starts the thread. Throws `Unavailable` when the process is out of descriptors or threads.
    package init(name: String) throws {
        self.name = name
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        let failure = errno
        guard epoll >= 0, wakeup >= 0, Self.control(epoll, EPOLL_CTL_ADD, wakeup, EPOLLIN.rawValue, Self.wakeupID)
        else {
            if epoll >= 0 { close(epoll) }
            if wakeup >= 0 { close(wakeup) }
            throw RelayError(
                .unavailable, "no descriptors for a bus loop: errno \(failure)", cause: SystemError(failure))
        }
        // The thread keeps the loop, and its descriptors, alive until it ends.
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { context in
                let loop = Unmanaged<BusLoop>.fromOpaque(context!).takeRetainedValue()  // Never nil: passed below.
                loop.run()
                return nil
            }, context.toOpaque())
        if failed != 0 {
            context.release()
            throw RelayError(.unavailable, "no thread for a bus loop: errno \(failed)", cause: SystemError(failed))
        }
        pthread_detach(thread)
    }
    deinit {
        close(epoll)
        close(wakeup)
    }

    /// Whether the caller is on the loop's thread.
    package var isCurrent: Bool { state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }

    /// Runs a job on the loop's thread, after those given before.
    package func execute(_ job: @escaping Job) {
        let mustWake = state.withLock { state in
            if state.isStopped { return false }
            state.jobs.append(job)
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if mustWake { wake() }
    }

    /// Runs a job on the loop's thread when the time has come. Returns a number for `cancel(timer:)`.
    @discardableResult package func schedule(after duration: Duration, _ job: @escaping Job) -> UInt64 {
        let deadline = MonotonicClock.deadline(after: duration)
        let (id, mustWake) = state.withLock { state -> (UInt64, Bool) in
            if state.isStopped { return (0, false) }
            let id = state.timers.add(job, at: deadline)
            // The loop reads the next deadline before it sleeps: a later one needs no wake-up.
            let isNext = state.timers.nextDeadline() == deadline && !state.isWoken
            if isNext { state.isWoken = true }
            return (id, isNext)
        }
        if mustWake { wake() }
        return id
    }
    package func cancel(timer id: UInt64) { state.withLock { _ = $0.timers.cancel(id) } }

    /// Ends the thread, from any thread.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            (state.jobs, state.timers, state.handlers) = ([], TimerQueue(), [:])
        }
        wake()
    }

    // MARK: Descriptors

    /// Names a handler for descriptors; nothing is watched until `watch` says so.
    package func addHandler(_ handler: @escaping Handler) -> UInt64 {
        state.withLock { state in
            state.lastHandler += 1
            state.handlers[state.lastHandler] = handler
            return state.lastHandler
        }
    }
    package func removeHandler(_ id: UInt64) { state.withLock { _ = $0.handlers.removeValue(forKey: id) } }

    /// Changes what a descriptor is watched for; from any thread, also from libdbus's callbacks: it takes no lock.
    package func watch(_ descriptor: Int32, for events: UInt32, was: UInt32?, handler: UInt64) {
        let isKnown = was != nil
        if isKnown && events == was { return }
        _ = Self.control(epoll, isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, events, handler)
    }
    package func unwatch(_ descriptor: Int32) { _ = Self.control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0) }

    private static func control(_ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ id: UInt64)
        -> Bool
    {
        var event = epoll_event(events: events, data: epoll_data_t(u64: id))
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    // MARK: The thread

    private func wake() {
        var one: UInt64 = 1
        _ = Glibc.write(wakeup, &one, 8)
    }
    private func run() {
        relay_name_thread(name)
        state.withLock { $0.thread = pthread_self() }
        var events = [epoll_event](repeating: epoll_event(), count: 16)
        while true {
            guard let timeout = runDue() else { return }
            let count = epoll_wait(epoll, &events, Int32(events.count), timeout)
            for event in events.prefix(Int(max(0, count))) {
                if event.data.u64 == Self.wakeupID {
                    var value: UInt64 = 0
                    _ = read(wakeup, &value, 8)
                    continue
                }
                let handler = state.withLock { $0.handlers[event.data.u64] }
                handler?(event.events)
            }
        }
    }
    /// Runs jobs and timers; returns the time to sleep in milliseconds, or nil at the end.
    private func runDue() -> Int32? {
        while true {
            enum Next { case jobs([Job]), timer(Job), sleep(Int32), stop }
            let next: Next = state.withLock { state in
                if state.isStopped { return .stop }
                if !state.jobs.isEmpty {
                    defer { state.jobs = [] }
                    return .jobs(state.jobs)
                }
                state.isWoken = false
                guard let deadline = state.timers.nextDeadline() else { return .sleep(-1) }
                let now = MonotonicClock.now
                if let job = state.timers.popDue(now) { return .timer(job) }
                return .sleep(Int32(clamping: (deadline - now + 999_999) / 1_000_000))
            }
            switch next {
            case .jobs(let jobs): for job in jobs { job() }
            case .timer(let job): job()
            case .sleep(let timeout): return timeout
            case .stop: return nil
            }
        }
    }
}
