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
