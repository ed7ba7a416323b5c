import Synchronization

/// What writer and reader know of each other.
final class JournalActivity: Sendable {
    /// Counts the groups that were committed.
    let commits = Atomic<UInt64>(0)
}
