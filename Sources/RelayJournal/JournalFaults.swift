/// Fault switches, for tests: what they do happens on the thread that commits.
package struct JournalFaults: Sendable {
    /// Called at each step. Given, events are emitted one by one, so that there is a moment between any two.
    package var at: (@Sendable (JournalStep) -> Void)?
    /// The reserve file, which is made without the file layer's knowledge, takes its room (true), if there is any, or
    /// gives it back (false).
    package var reserve: (@Sendable (_ isTaken: Bool) -> Bool)?
    /// How many bytes the file system has left.
    package var room: (@Sendable () -> Int)?
    /// Called before all of the file is checked beside the running service, on the check's thread.
    package var checking: (@Sendable () -> Void)?
    /// The machine's clocks.
    var clock: (@Sendable () -> RetentionClock.Reading)?

    package init(
        at: (@Sendable (JournalStep) -> Void)? = nil, reserve: (@Sendable (Bool) -> Bool)? = nil,
        room: (@Sendable () -> Int)? = nil
    ) {
        (self.at, self.reserve, self.room) = (at, reserve, room)
    }
}

/// Where a fault can be put: a moment in the life of a transaction.
package enum JournalStep: String, Sendable, CaseIterable {
    /// All statements ran; COMMIT is next.
    case beforeCommit
    /// On disk, and not yet emitted.
    case afterCommit
    /// One event was emitted, another one is next.
    case betweenEmissions
    /// Everything was emitted; the publishers still wait.
    case beforeResume
    /// The oldest events were removed; COMMIT is next.
    case pruning
    /// Free pages are given back next.
    case vacuuming
}
