import CRelayShims
import Glibc
import Synchronization

/// What a `BusLoop` and its thread share.
final class LoopCore: Sendable {
    private struct Registration {
        let handler: BusLoop.Handler
        let whenStopped: BusLoop.Job
    }
    private struct State {
        var jobs: [BusLoop.Job] = []
        var timers = TimerQueue<BusLoop.Job>()
        var handlers: [UInt64: Registration] = [:]
        var lastHandler: UInt64 = 0
        var isStopped = false
        /// Whether the thread is going to look at the jobs before it sleeps.
        var isWoken = false
        var hasThread = false
        /// When the thread looks again by itself, though no timer may be due then: a next timer behind that needs no wake-up.
        var nextLook: UInt64 = .max
        /// What is done once behind the turn, and what was lent in it.
        var ending: [BusLoop.Job] = []
        /// Jobs and timers that have run, for code that waits until nothing is done any more.
        var activity: UInt64 = 0

        mutating func takeDue(_ now: UInt64) -> BusLoop.Job? {
            guard let job = timers.popDue(now) else { return nil }
            activity &+= 1
            return job
        }
    }
    private let epoll: Int32
    private let wakeup: Int32
    let name: String
    private let clock: ManualClock?
    private let state = Mutex(State())
    private let thread = Atomic<UInt>(0)
    let turn: TicketLock
    let lending = Mutex(LoopLending())
    /// Much is done in this turn: what is sent is gathered, and written at its end.
    private let gathers = Atomic<Bool>(false)
    /// Something was lent in this turn: most turns look at nothing else.
    let hasLent = Atomic<Bool>(false)
    /// Sends the thread that watches what was lent: -1 if there is none.
    let watchTimer = relay_timer_create()
    private static let wakeupID: UInt64 = 0

    init(name: String, _ clock: ManualClock?) throws(RelayError) {
        (self.name, self.clock) = (name, clock)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        turn = TicketLock(waker: wakeup)
        let failure = SystemError(errno)
        guard epoll >= 0, wakeup >= 0, Self.control(epoll, EPOLL_CTL_ADD, wakeup, EPOLLIN.rawValue, Self.wakeupID)
        else { throw RelayError(.unavailable, "no descriptors for a bus loop: \(failure)", cause: failure) }
        clock?.add(self)
    }
    deinit {
        if epoll >= 0 { close(epoll) }
        if wakeup >= 0 { close(wakeup) }
        if watchTimer >= 0 { close(watchTimer) }
    }

    /// It will look at the jobs before it sleeps: nobody need wake it.
    var isOwnThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    var now: UInt64 { clock?.now ?? MonotonicClock.now }

    // MARK: A test's time

    var nextDeadline: UInt64? { state.withLock { $0.timers.nextDeadline() } }
    /// The time has moved.
    func look() {
        let mustWake = state.withLock { state in
            defer { state.isWoken = true }
            return !state.isWoken && state.hasThread
        }
        if mustWake { wake() }
    }
    /// The thread sleeps, and nothing waits for it.
    var isIdle: Bool { state.withLock { !$0.isWoken && $0.jobs.isEmpty || !$0.hasThread } && !turn.isHeld }
    var activity: UInt64 { state.withLock { $0.activity } }

    // MARK: Turns with much to do

    /// On the loop's thread, in its turn.
    func gather() { gathers.store(true, ordering: .relaxed) }
    /// For the calling thread: whether it is the loop's, and comes to the end of what is gathered.
    var isGathering: Bool { gathers.load(ordering: .relaxed) && isOwnThread }
    /// Runs a job behind the turn, and behind what was lent in it. False: that has ended already, as it may have for a
    /// thread that has lost the loop.
    func atEnd(_ job: @escaping BusLoop.Job) -> Bool {
        state.withLock { state in
            let isInTime = gathers.load(ordering: .relaxed)
            if isInTime { state.ending.append(job) }
            return isInTime
        }
    }
    private func endGathering() {
        if !gathers.load(ordering: .relaxed) { return }
        let jobs = state.withLock { state in
            gathers.store(false, ordering: .relaxed)
            defer { state.ending = [] }
            return state.ending
        }
        for job in jobs { job() }
    }

    // MARK: Jobs and timers

    /// Begins a turn on the calling thread, if that can be had at once and no job is before it.
    func tryTurn() -> Bool {
        guard turn.tryTake() else { return false }
        let isFree = state.withLock { state in
            guard state.jobs.isEmpty && !state.isStopped else { return false }
            state.activity &+= 1
            return true
        }
        if !isFree { turn.give() }
        return isFree
    }
    /// Serves a descriptor on the calling thread, which holds the turn: until `isOver`, for so many nanoseconds, or until
    /// something else is to be done. Epoll must not watch it meanwhile.
    func serve(_ descriptor: Int32, for duration: UInt64, until isOver: () -> Bool, _ handler: BusLoop.Handler) {
        let end = MonotonicClock.now &+ duration
        turn.sleep {
            while !isOver(), !turn.isWantedBySleeper {
                let now = MonotonicClock.now
                if now >= end { return }
                let events = relay_poll_first(descriptor, wakeup, end - now)
                if events == 0 { return }
                handler(UInt32(UInt16(bitPattern: events)))
            }
        }
    }
    func execute(_ job: @escaping BusLoop.Job) {
        let (mustWake, mustStart) = state.withLock { state in
            state.jobs.append(job)
            defer { (state.isWoken, state.hasThread) = (true, true) }
            return (!state.isWoken, !state.hasThread)
        }
        // A thread of its own for the jobs that come after the end. Without one they wait for the next try.
        if mustStart { try? start() } else if mustWake && !isOwnThread { wake() }
    }
    func schedule(after duration: Duration, slack: Duration, _ job: @escaping BusLoop.Job) -> UInt64 {
        let early = MonotonicClock.deadline(after: duration, from: now)
        let deadline = MonotonicClock.deadline(after: slack, from: early)
        let (id, mustWake) = state.withLock { state -> (UInt64, Bool) in
            if state.isStopped { return (0, false) }
            let id = state.timers.add(job, at: deadline, early: early < deadline ? early : nil)
            // The loop reads the next deadline before it sleeps: a later one needs no wake-up.
            let mustWake = deadline < state.nextLook && !state.isWoken
            // Kept as a look, whatever becomes of the timer: else each of many that are cancelled soon would wake.
            state.nextLook = min(state.nextLook, deadline)
            if mustWake { state.isWoken = true }
            return (id, mustWake)
        }
        if mustWake && !isOwnThread { wake() }
        return id
    }
    // Here and below, what leaves the state is released outside the lock: a job may own what calls the loop as it ends.
    func cancel(timer id: UInt64) { _ = state.withLock { $0.timers.cancel(id) } }

    func stop() {
        let dropped = state.withLock { state -> (TimerQueue<BusLoop.Job>, [UInt64: Registration])? in
            if state.isStopped { return nil }
            state.isStopped = true
            defer { (state.timers, state.handlers) = (TimerQueue(), [:]) }
            return (state.timers, state.handlers)
        }
        guard let (_, handlers) = dropped else { return }
        endLending()
        for (_, registration) in handlers.sorted(by: { $0.key < $1.key }) { execute(registration.whenStopped) }
        if !isOwnThread { wake() }
    }

    // MARK: Descriptors

    func addHandler(_ handler: @escaping BusLoop.Handler, whenStopped: @escaping BusLoop.Job) -> UInt64? {
        state.withLock { state in
            if state.isStopped { return nil }
            state.lastHandler += 1
            state.handlers[state.lastHandler] = Registration(handler: handler, whenStopped: whenStopped)
            return state.lastHandler
        }
    }
    func removeHandler(_ id: UInt64) { _ = state.withLock { $0.handlers.removeValue(forKey: id) } }

    func watch(_ descriptor: Int32, for events: UInt32?, was: UInt32?, handler: UInt64) -> Bool {
        switch (was, events) {
        case (nil, nil): true
        case (nil, let events?): Self.control(epoll, EPOLL_CTL_ADD, descriptor, events, handler)
        case (_?, nil): Self.control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
        case (let was?, let events?):
            was == events || Self.control(epoll, EPOLL_CTL_MOD, descriptor, events, handler)
        }
    }
    private static func control(_ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ id: UInt64)
        -> Bool
    {
        var event = epoll_event(events: events, data: epoll_data_t(u64: id))
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    // MARK: The thread

    /// Starts the thread, which keeps this alive until it ends.
    func start() throws(RelayError) {
        state.withLock { $0.hasThread = true }
        do throws(SystemError) {
            try OwnThread.start(name) { self.run(self.lending.withLock { $0.tenure.holder }) }
        } catch {
            state.withLock { $0.hasThread = false }
            throw RelayError(.unavailable, "no thread for a bus loop: \(error)", cause: error)
        }
    }
    private func wake() {
        var one: UInt64 = 1
        _ = Glibc.write(wakeup, &one, 8)
    }
    /// - Parameter number: the thread's, by which it knows whether it still has the loop.
    func run(_ number: UInt64) {
        thread.store(pthread_self(), ordering: .relaxed)
        var events = [epoll_event](repeating: epoll_event(), count: 16)
        turn.take()
        while true {
            runDue()
            turn.give()
            guard runLent(number) else { return }
            endGathering()
            guard let timeout = sleepTime() else { return }
            let count = epoll_wait(epoll, &events, Int32(events.count), timeout)
            turn.take()
            for event in events.prefix(Int(max(0, count))) {
                if event.data.u64 == Self.wakeupID {
                    var value: UInt64 = 0
                    _ = read(wakeup, &value, 8)
                    continue
                }
                // Looked up anew: one that came before in this batch may have closed this one's connection.
                state.withLock { $0.handlers[event.data.u64] }?.handler(event.events)
            }
        }
    }
    /// Runs the jobs and timers that are due now. What these add waits for the next turn, after the descriptors: jobs that
    /// beget jobs must not starve the socket.
    private func runDue() {
        let (jobs, hasTimers) = state.withLock { state in
            defer { state.jobs = [] }
            state.activity &+= UInt64(state.jobs.count)
            return (state.jobs, !state.timers.isEmpty)
        }
        if jobs.count > 1 { gather() }
        for job in jobs { job() }
        if hasTimers {
            let now = now
            while let job = state.withLock({ $0.takeDue(now) }) { job() }
        }
    }
    /// How long to sleep, in milliseconds; nil at the end.
    private func sleepTime() -> Int32? {
        state.withLock { state in
            if !state.jobs.isEmpty { return 0 }
            state.isWoken = false
            if state.isStopped {
                // Before the thread is gone, so that no later one with the same number is taken for it.
                thread.store(0, ordering: .relaxed)
                state.hasThread = false
                return nil
            }
            let deadline = state.timers.nextDeadline() ?? .max
            if let clock {
                state.nextLook = deadline
                // Until the time is moved.
                state.isWoken = deadline <= clock.now
                return state.isWoken ? 0 : -1
            }
            if state.nextLook > deadline || state.nextLook <= MonotonicClock.now { state.nextLook = deadline }
            return state.nextLook == .max ? -1 : MonotonicClock.milliseconds(until: state.nextLook)
        }
    }
}
