public import RelayCore

/// The domain's tables at one moment, for queries that change nothing, with the position of each stream at that moment.
///
/// - Order: all queries see the same state, that of the first query. It never lies within a commit.
/// - Isolation: units of work continue meanwhile, and the snapshot does not see their changes. It cannot be kept,
///   copied or sent elsewhere.
/// - Loss: none. An error of a query ends that query only.
public struct JournalSnapshot: ~Copyable {
    private let connection: SnapshotConnection
    init(_ connection: SnapshotConnection) { self.connection = connection }

    /// Runs one query, and makes a value of each row.
    ///
    /// Prepared statements are cached by their text, in which values are parameters. Tables named `relay_…` are
    /// refused, and so is every statement that changes data.
    ///
    /// - Parameter sql: one query: see ``SQL``.
    /// - Parameter row: makes a value of a row.
    /// - Returns: the values, in the order of the rows.
    /// - Throws: `.invalidArgument` for SQL that is wrong or not allowed; `.unavailable` if the file cannot be read, or
    ///   if the journal is closed meanwhile. What `row` throws.
    public mutating func query<T>(_ sql: SQL, row: (borrowing Row) throws -> T) throws -> [T] {
        try connection.query(sql.text, try sql.parameters(), row)
    }
    /// Runs one query, and decodes each row, as ``UnitOfWork/query(_:as:)`` does.
    ///
    /// - Parameter sql: one query: see ``SQL``.
    /// - Parameter type: the type of a row.
    /// - Returns: the values, in the order of the rows.
    /// - Throws: as ``query(_:row:)``. `.schemaMismatch` for a column that is missing, or has a value of another type.
    public mutating func query<T: Decodable>(_ sql: SQL, as type: T.Type = T.self) throws -> [T] {
        try query(sql) { row in try row.decoded(as: type) }
    }
    /// The position of an interface's last event that these tables include. Later events apply on top.
    ///
    /// - Parameter interface: an interface of the service.
    /// - Returns: epoch and sequence; the sequence is 0 if there was no event yet.
    /// - Throws: `.notFound` for an interface that the journal does not keep.
    public mutating func position(
        of interface: any EventInterface.Type
    ) throws -> (epoch: UInt64, sequence: UInt64) {
        try connection.position(of: interface.name)
    }
}
