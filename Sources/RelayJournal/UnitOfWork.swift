public import RelayCore

/// One transaction over state and events: all of it is committed, or nothing.
///
/// - Order: statements and events in the order of the calls; events are visible, on any stream, after the commit.
/// - Isolation: one runs at a time, on a thread that the journal chooses. It cannot be kept, copied or sent elsewhere.
/// - Loss: what the closure throws undoes this unit alone, with its events; `EventJournal.unitOfWork(_:onRefusal:)` can report it.
///   An error of a statement undoes that statement alone, when the closure catches it; after one of the disk's the whole unit is
///   undone, whatever the closure makes of it.
public struct UnitOfWork: ~Copyable, EventSink {
    private let engine: JournalEngine
    init(_ engine: JournalEngine) { self.engine = engine }

    /// Adds an event, of a durable or a volatile interface: it leaves after the commit, or never.
    ///
    /// Throws `NotFound` when no service with its interface has the journal, `InvalidArgument` for a value that D-Bus cannot
    /// carry, `TooLarge` over 1 MiB.
    public mutating func publish<E: DomainEvent>(_ event: E) throws {
        try engine.publish(event)
    }
    /// Runs one statement, and returns how many rows it inserted, changed or deleted.
    ///
    /// Statements are kept prepared by their text: give values as parameters (`?`). Foreign keys are enforced. Tables named
    /// `relay_…`, transactions, ATTACH and PRAGMA belong to the journal.
    ///
    /// Throws `Conflict` for a constraint, `InvalidArgument` for SQL that is wrong or not allowed, `StorageFull`,
    /// `Unavailable`; the cause is an `SQLiteError`.
    @discardableResult
    public mutating func execute(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try engine.asDomain(sql) { try $0.execute(sql, values) }
    }
    /// Runs one statement, and makes a value of each row. Sees what the unit has done so far. Throws as `execute` does.
    public mutating func query<T>(
        _ sql: String, _ values: [SQLValue] = [], row: (borrowing Row) throws -> T
    ) throws -> [T] {
        try engine.asDomain(sql) { try $0.query(sql, values, row) }
    }
}
