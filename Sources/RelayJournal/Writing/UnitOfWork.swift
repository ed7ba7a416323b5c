public import RelayCore

/// One transaction over state and events, which is committed as a whole or not at all.
///
/// ```swift
/// try await journal.unitOfWork { unit in
///     try unit.execute("DELETE FROM boxes WHERE id = \(id)")
///     try unit.publish(BoxRemoved(boxID: id))
/// }
/// ```
///
/// - Order: statements run, and events are published, in the order of the calls. Events of all streams become visible
///   after the commit.
/// - Isolation: one unit runs at a time, on a thread that the journal chooses. It cannot be kept, copied or sent
///   elsewhere.
/// - Loss: if the closure throws, only this unit and its events are undone; ``EventJournal/unitOfWork(_:onRefusal:)``
///   can report that. If the closure catches the error of a statement, only that statement is undone. After an error of
///   the disk the whole unit is undone, even if the closure catches it.
public struct UnitOfWork: ~Copyable, EventSink, DocumentSink {
    let engine: JournalEngine
    init(_ engine: JournalEngine) { self.engine = engine }

    /// Adds an event of a durable or a volatile interface. The event leaves after the commit, or never.
    ///
    /// - Parameter event: the event.
    /// - Throws: `.notFound` if no service with its interface uses the journal. `.invalidArgument` for a value that
    ///   D-Bus cannot carry. `.tooLarge` over 1 MiB.
    public mutating func publish<E: DomainEvent>(_ event: E) throws {
        try engine.publish(event)
    }
    /// Does not compile: a document is set.
    @available(*, unavailable, message: "a document is set, not published: unit.set(_:)")
    public mutating func publish<D: DomainDocument>(_ document: D) throws {}
    /// Sets a document of a durable or a volatile interface. The change leaves after the commit, or never. A state that
    /// is equal to the document's state in this unit publishes nothing.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: `.notFound` if no service with its interface uses the journal. `.invalidArgument` for a value that
    ///   D-Bus cannot carry. `.tooLarge` over 1 MiB less 4 KiB.
    public mutating func set<Document: DomainDocument>(_ state: Document) throws {
        try engine.document(Document.self).set(state, in: JournalUnit(engine: engine))
    }
    /// A document's state in this unit: the state that the unit has set, or else the present one.
    ///
    /// - Parameter type: the document.
    /// - Returns: the state.
    /// - Throws: `.notFound` if no service with its interface uses the journal.
    public mutating func get<Document: DomainDocument>(_ type: Document.Type) throws -> Document {
        try engine.document(type).draft(in: JournalUnit(engine: engine)).state
    }
    /// Changes a document's state in this unit.
    ///
    /// ```swift
    /// try await journal.unitOfWork { unit in try unit.update(PrinterSettings.self) { $0.tray += 1 } }
    /// ```
    ///
    /// - Parameter type: the document.
    /// - Parameter change: changes the state.
    /// - Returns: what `change` returns.
    /// - Throws: as ``set(_:)``, and what `change` throws.
    @discardableResult
    public mutating func update<Document: DomainDocument, Result>(
        _ type: Document.Type, _ change: (inout Document) throws -> Result
    ) throws -> Result {
        var state = try get(type)
        let result = try change(&state)
        try set(state)
        return result
    }
    /// Runs one statement.
    ///
    /// Prepared statements are cached by their text, in which values are parameters. Foreign keys are enforced.
    /// Tables named `relay` or `relay_…`, transactions, `ATTACH`, `PRAGMA` and `pragma_…` are reserved for the journal,
    /// no table is named `pragma_…`, and no foreign key refers to its tables. The definition of a table has at most 1 MiB.
    ///
    /// - Parameter sql: one statement: see ``SQL``.
    /// - Returns: how many rows it inserted, changed or deleted.
    /// - Throws: `.conflict` for a constraint, `.invalidArgument` for SQL that is wrong or not allowed, `.storageFull`,
    ///   `.unavailable`.
    @discardableResult
    public mutating func execute(_ sql: SQL) throws -> Int {
        let values = try sql.parameters()
        return try engine.asDomain(sql.text) { try $0.execute(sql.text, values) }
    }
    /// Does not compile: a text that was put together binds no values.
    @available(
        *, unavailable,
        message: "a statement is SQL: write it as a literal, values as \\(value), parts as SQL of their own"
    )
    @_disfavoredOverload public mutating func execute(_ text: String) throws {}
    /// Runs one statement, and makes a value of each row. The statement sees all earlier changes of the unit.
    ///
    /// - Parameter sql: one statement: see ``SQL``.
    /// - Parameter row: makes a value of a row.
    /// - Returns: the values, in the order of the rows.
    /// - Throws: as ``execute(_:)``, and what `row` throws.
    public mutating func query<T>(_ sql: SQL, row: (borrowing Row) throws -> T) throws -> [T] {
        let values = try sql.parameters()
        return try engine.asDomain(sql.text) { try $0.query(sql.text, values, row) }
    }
    /// Runs one statement, and decodes each row.
    ///
    /// ```swift
    /// let jobs = try unit.query("SELECT id, title FROM jobs", as: Job.self)
    /// let count = try unit.query("SELECT count(*) FROM jobs", as: Int.self)[0]
    /// ```
    ///
    /// A value that a column can hold is read of the first column. Any other type is read by name: each property of the
    /// column that has its name.
    ///
    /// - Parameter sql: one statement: see ``SQL``.
    /// - Parameter type: the type of a row.
    /// - Returns: the values, in the order of the rows.
    /// - Throws: as ``execute(_:)``. `.schemaMismatch` for a column that is missing, or has a value of another type.
    public mutating func query<T: Decodable>(_ sql: SQL, as type: T.Type = T.self) throws -> [T] {
        try query(sql) { row in try row.decoded(as: type) }
    }
}
