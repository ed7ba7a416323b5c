/// One step from a version of a program's tables to the next.
///
/// ```swift
/// try await journal.migrate("printing", by: [
///     Migration("jobs", "CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT"),
///     Migration("pages", "ALTER TABLE jobs ADD COLUMN pages INTEGER NOT NULL DEFAULT 1"),
/// ])
/// ```
///
/// Never change or remove a released step. Add another step after it.
///
/// Foreign keys are enforced in a step, too. `DROP TABLE` first deletes the table's rows, and with them the rows of
/// other tables that refer to it with `ON DELETE CASCADE`. When you rebuild such a table, copy those rows first.
public struct Migration: Sendable {
    /// Identifies the step, in messages and in the journal.
    public let name: String
    let body: @Sendable (inout UnitOfWork) throws -> Void

    /// A step of SQL statements.
    ///
    /// - Parameter name: the name of the step.
    /// - Parameter statements: the statements, in order, one in each string.
    public init(_ name: String, _ statements: SQL...) {
        self.init(name) { unit in
            for statement in statements { try unit.execute(statement) }
        }
    }
    /// Does not compile: text that is put together at run time is no statement.
    @available(
        *, unavailable, message: "a statement is an SQL: write it here, or declare it as 'let statement: SQL = …'"
    )
    public init(_ name: String, _ statements: String...) { self.init(name) { _ in } }
    /// A step that needs code.
    ///
    /// - Parameter name: the name of the step.
    /// - Parameter body: does the step, in one transaction: see ``EventJournal/unitOfWork(_:)``.
    public init(_ name: String, _ body: @escaping @Sendable (inout UnitOfWork) throws -> Void) {
        (self.name, self.body) = (name, body)
    }
}
