import Glibc

/// The work that waits for the engine, and the engine's owner: what the writer's lock guards.
///
/// Invariants: the engine is here, or with the one thread that took it: the writer's, or a leader's. No other touches
/// it until it is put back. While something waits for a free engine, the writer's thread is awake or woken, or a leader
/// is on its way.
struct WriterQueue<Engine> {
    private enum Place {
        case here(Engine)
        case taken(by: pthread_t)
        case closed
    }
    enum Answer {
        case refused
        case queued(Next)
        /// To be done at once, with the engine, which `putBack` wants afterwards.
        case lead(Engine)
    }
    /// What to do for what waits.
    enum Next {
        case nothing
        /// Wake the writer's thread.
        case wake
        /// Schedule a leader with the permit: it runs behind the jobs already in the pool's queue, and takes what they
        /// add, too.
        case schedule
    }
    /// FIFO.
    private(set) var works: [JournalWork] = []
    private(set) var isEnding = false
    private var place: Place
    /// How many shared the last commit. Where several publish, a caller that leads at once makes the others wait for a
    /// whole fsync.
    private(set) var lastGroup = 0
    /// The writer's thread must do upkeep: it begins with that. No caller leads before it has.
    private(set) var isDue = true
    /// It is to look before anything more is committed: a leader has left it something.
    private(set) var mustKeep = false
    /// When it looks by itself.
    private(set) var deadline: UInt64 = 0
    private(set) var isAsleep = false
    /// The waiting work is for the thread: some of it is not for a leader.
    private(set) var isThreads = false
    /// A leader of what waits is on its way.
    private(set) var isScheduled = false

    /// How often the engine was put back.
    private(set) var turns: UInt64 = 0

    /// So many callers share a commit at most.
    private static var groupLimit: Int { 512 }
    /// How late upkeep may be, in nanoseconds: the clocks are read one after the other.
    private static var slack: UInt64 { 1_000_000 }

    init(_ engine: Engine) { place = .here(engine) }

    /// Something waits, or is being done.
    var isBusy: Bool { if case .taken = place { true } else { !works.isEmpty } }
    var isClosed: Bool { if case .closed = place { true } else { false } }
    func isTaken(by thread: pthread_t) -> Bool { if case .taken(by: thread) = place { true } else { false } }

    // MARK: From any thread

    /// Accepts work: to wait, or for its caller to do at once.
    mutating func accept(_ work: JournalWork, by thread: pthread_t, _ permit: CommitPermit?) -> Answer {
        if isEnding { return .refused }
        if case .here(let engine) = place, works.isEmpty, lastGroup <= 1, !isDue, work.isSmall, let permit,
            permit.take()
        {
            place = .taken(by: thread)
            return .lead(engine)
        }
        works.append(work)
        if !work.isSmall { isThreads = true }
        guard case .here = place else { return .queued(.nothing) }
        return .queued(next(permit))
    }
    /// For what waits while the engine is free.
    private mutating func next(_ permit: CommitPermit?) -> Next {
        if !isAsleep { return .nothing }
        if !isThreads && !isDue && !isEnding {
            if isScheduled { return .nothing }
            if let permit, permit.take() {
                isScheduled = true
                return .schedule
            }
        }
        isAsleep = false
        return .wake
    }
    /// Takes nothing in from now on. Wake the thread then.
    mutating func end() { isEnding = true }
    /// For the scheduled leader: takes the engine and the waiting work. Returns nil if another thread has taken them.
    ///
    /// - Parameter works: empty.
    mutating func takeLead(_ works: inout [JournalWork], by thread: pthread_t) -> Engine? {
        isScheduled = false
        guard !isDue, !isEnding, !isThreads, !self.works.isEmpty, case .here(let engine) = place else { return nil }
        place = .taken(by: thread)
        _ = takeMore(&works, asLeader: true)
        return engine
    }
    /// The leader's work is done, and it has given the permit back.
    ///
    /// - Parameter due: when there will be something to keep.
    mutating func putBack(_ engine: Engine, due: UInt64, _ permit: CommitPermit?) -> Next {
        place = .here(engine)
        turns &+= 1
        if due < deadline && deadline - due > Self.slack { (isDue, mustKeep) = (true, true) }
        return isDue || isEnding || !works.isEmpty ? next(permit) : .nothing
    }

    // MARK: From the writer's thread

    /// Takes the engine, and what has queued up: nothing if there is something to keep first, or nothing else to do but
    /// to look or to end.
    ///
    /// Returns nil when the thread has to sleep: there is nothing to do, or a leader is at it.
    ///
    /// - Parameter works: empty.
    mutating func take(_ works: inout [JournalWork], by thread: pthread_t) -> (engine: Engine, isOver: Bool)? {
        guard isDue || isEnding || !self.works.isEmpty, case .here(let engine) = place else {
            isAsleep = true
            return nil
        }
        defer { (isDue, mustKeep) = (false, false) }
        (place, isAsleep) = (.taken(by: thread), false)
        if mustKeep && !(isEnding && self.works.isEmpty) { return (engine, false) }
        _ = takeMore(&works, asLeader: false)
        if self.works.isEmpty { isThreads = false }
        return (engine, isEnding && works.isEmpty)
    }
    /// For the engine's owner: adds what has queued up since, as long as a group may grow. Returns whether there was
    /// any.
    mutating func takeMore(_ works: inout [JournalWork], asLeader: Bool) -> Bool {
        if asLeader && isThreads { return false }
        let count = min(self.works.count, Self.groupLimit - works.count)
        if count <= 0 { return false }
        if works.isEmpty && count == self.works.count {
            swap(&works, &self.works)
        } else {
            works.append(contentsOf: self.works.prefix(count))
            self.works.removeFirst(count)
        }
        lastGroup = works.count
        return true
    }
    /// The deadline given to `putBack` has passed: upkeep is due, after the present leader.
    mutating func wasDue() { isDue = true }
    /// - Parameter deadline: when the thread will look again; 0: at once.
    mutating func putBack(_ engine: Engine, until deadline: UInt64) {
        (place, self.deadline, isDue) = (.here(engine), deadline, deadline == 0)
        turns &+= 1
    }
    mutating func close() { place = .closed }
}

extension JournalWork {
    /// Whether its caller's thread may do it. What takes longer than a wake-up gains nothing by that.
    fileprivate var isSmall: Bool {
        switch self {
        case .events(let events, _): events.count <= 64
        case .event: true
        case .unit(let body): body.isSmall
        case .call: false
        }
    }
}
