/// The thread of bus connections: an epoll loop over descriptors, timers and jobs.
///
/// - Order: jobs run in the order of `execute`, one at a time, never under a lock.
/// - Isolation: descriptor handlers, timers and jobs run on this one thread, which holds the loop's turn meanwhile and
///   gives it up while it sleeps. Another thread gets in between by `beginTurn`. The thread handles no signals.
/// - Loss: no job is dropped; timers are, by `stop()`.
/// - Cancellation: `stop()`, or the release of the last reference, ends the thread when the jobs given have run.
package final class BusLoop: Sendable {
    package typealias Job = @Sendable () -> Void
    package typealias Handler = @Sendable (_ events: UInt32) -> Void

    /// What the thread keeps alive. It does not keep this handle: a forgotten `stop()` must not cost a thread.
    private let core: LoopCore
    /// The attempts to reach a bus that wait for it.
    let dials = OpenDials()

    /// Starts the thread. Throws `Unavailable` when the process is out of descriptors or threads.
    ///
    /// - Parameter clock: a test's time, in place of the machine's.
    package init(name: String, clock: ManualClock? = nil) throws {
        core = try LoopCore(name: name, clock)
        try core.start()
    }
    deinit { core.stop() }

    /// Whether the caller holds the loop's turn: it is on the loop's thread, or began a turn.
    package var isCurrent: Bool { core.turn.isMine }
    /// Whether that thread holds the turn.
    package func isHeld(by thread: UInt) -> Bool { core.turn.isHeld(by: thread) }

    /// Waits for a turn between those of the loop's thread, on the calling thread; before and after the loop's end. Each
    /// is served in the order of coming. Not from within a turn.
    package func beginTurn() { core.turn.take() }
    package func endTurn() { core.turn.give() }
    /// Runs a job at once on the calling thread, in a turn, if nothing else has the loop and no job waits; else as
    /// `execute` does, behind those that wait.
    ///
    /// - Parameter then: follows in the turn, where it is the calling thread's own.
    package func executeSoon(_ job: @escaping Job, then next: () -> Void) {
        if !core.tryTurn() { return execute(job) }
        defer { endTurn() }
        job()
        next()
    }
    /// Marks the turns that have begun or are waited for, so that their end can be awaited without a turn of one's own.
    /// Later turns see what the caller stored before this call.
    package func markTurns() -> UInt32 { core.turn.mark() }
    /// Whether all turns before the mark have ended.
    package func haveTurnsEnded(before mark: UInt32) -> Bool { core.turn.hasPassed(mark) }

    /// From now until the end of the turn, and of what is lent in it, much is sent: it goes out together. In a turn
    /// of another thread than the loop's without effect.
    func gather() { if core.isOwnThread { core.gather() } }
    /// Whether what the calling thread sends goes out together, by what it adds with `atEnd`.
    var isGathering: Bool { core.isGathering }
    /// False: it is too late for that.
    func atEnd(_ job: @escaping Job) -> Bool { core.atEnd(job) }

    /// Whether a thread waits for the turn: for the thread that holds it, and could keep it for long.
    package var isTurnWanted: Bool { core.turn.isWanted }

    /// Runs a job on the loop's thread, after those given before. After `stop()` too: some caller always waits for an
    /// answer, if only for the one that the connection is gone.
    package func execute(_ job: @escaping Job) { core.execute(job) }

    /// Whether a job of users that has proved short may run on the calling thread, behind its turn: it is the loop's own.
    package var canLend: Bool { core.canLend }
    package var isOwnThread: Bool { core.isOwnThread }
    /// Runs a job on the calling thread behind its turn, where `canLend`. Should it take long after all, another thread
    /// takes the loop over.
    package func lend(_ job: LentJob) { core.lend(job) }

    /// The time by which its timers go, in nanoseconds.
    package var now: UInt64 { core.now }

    /// Runs a job on the loop's thread when the time has come; never after `stop()`. Returns a number for
    /// `cancel(timer:)`.
    ///
    /// - Parameter slack: how much later it may be: until then it waits for something else to wake the thread.
    @discardableResult package func schedule(
        after duration: Duration, slack: Duration = .zero, _ job: @escaping Job
    ) -> UInt64 {
        core.schedule(after: duration, slack: slack, job)
    }
    package func cancel(timer id: UInt64) { core.cancel(timer: id) }

    /// Closes the connections that the loop serves, and ends the thread; from any thread, any number of times.
    package func stop() { core.stop() }

    // MARK: Descriptors

    /// Serves a descriptor on the calling thread, which began a turn: until `isOver`, for so many nanoseconds, or until
    /// something else is to be done. It must not be watched meanwhile.
    func serve(_ descriptor: Int32, for duration: UInt64, until isOver: () -> Bool, _ handler: Handler) {
        core.serve(descriptor, for: duration, until: isOver, handler)
    }
    /// Names a handler for descriptors, and what to do with it when the loop stops. Nothing is watched before `watch`
    /// is called. Nil when the loop was stopped.
    func addHandler(_ handler: @escaping Handler, whenStopped: @escaping Job) -> UInt64? {
        core.addHandler(handler, whenStopped: whenStopped)
    }
    func removeHandler(_ id: UInt64) { core.removeHandler(id) }

    /// Changes what a descriptor is watched for, nil being not at all; from any thread, also from libdbus's callbacks:
    /// it takes no lock. Returns false when the kernel has no room.
    func watch(_ descriptor: Int32, for events: UInt32?, was: UInt32?, handler: UInt64) -> Bool {
        core.watch(descriptor, for: events, was: was, handler: handler)
    }
}
