/// What `EventJournal.migrate(_:by:)` did.
public struct MigrationOutcome: Hashable, Sendable {
    /// The versions before and after. A version is the number of finished steps.
    public let from, to: Int
    /// The backup that was made before the first step; nil if none was needed.
    public let backup: String?

    package init(from: Int, to: Int, backup: String?) { (self.from, self.to, self.backup) = (from, to, backup) }
}
