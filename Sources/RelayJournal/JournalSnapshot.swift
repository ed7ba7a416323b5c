public import RelayCore

/// The domain's tables as of one moment, for queries that change nothing; and where each stream stood then.
///
/// - Order: all that is read is of the same moment, between two commits: that of the first query.
/// - Isolation: units of work go on beside it; it sees nothing of them. It cannot be kept, copied or sent elsewhere.
/// - Loss: none. An error of a query ends that query alone.
public struct JournalSnapshot: ~Copyable {
    private let connection: SnapshotConnection
    init(_ connection: SnapshotConnection) { self.connection = connection }

    /// Runs one query, and makes a value of each row.
    ///
    /// Statements are kept prepared by their text: give values as parameters (`?`). The tables named `relay_…` and all that
    /// changes anything are refused.
    ///
    /// Throws `InvalidArgument` for SQL that is wrong or not allowed, `Unavailable` when the file cannot be read or the journal
    /// is closed meanwhile; the cause is an `SQLiteError`. What `row` throws is rethrown.
    public mutating func query<T>(
        _ sql: String, _ values: [SQLValue] = [], row: (borrowing Row) throws -> T
    ) throws -> [T] {
        try connection.query(sql, values, row)
    }
    /// The position of the last event of an interface: these tables are as they were right after it. The events behind it apply on
    /// top; sequence 0 if there was none yet.
    ///
    /// Throws `NotFound` for an interface that the journal does not keep.
    public mutating func position(
        of interface: any EventInterface.Type
    ) throws -> (epoch: UInt64, sequence: UInt64) {
        try connection.position(of: interface.name)
    }
}
