public import RelayJournal

/// Keeps boxes and items in the journal's file: state and events are committed together.
///
/// Units of work run one at a time, on the journal's thread.
public struct JournalStore: RelocationStore {
    private let journal: EventJournal

    /// Makes the tables, or brings those of an older version up to date. Before a service is opened on the journal, or after.
    ///
    /// Throws `RelayError` `.schemaMismatch` for tables of a newer version, and what the journal throws.
    public init(_ journal: EventJournal) async throws {
        self.journal = journal
        try await journal.unitOfWork { unit in try RelocationSchema.migrate(in: &unit) }
    }

    public func perform<Work: RelocationWork>(_ work: Work) async throws -> Work.Outcome {
        try await journal.unitOfWork { unit in try work.perform(in: &unit) }
    }
}
