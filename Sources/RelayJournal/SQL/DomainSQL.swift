import CSQLite
import RelayCore

/// The domain's way to the database: its statements, and what they may not do.
final class DomainSQL {
    enum Access { case readingAndWriting, reading }
    private let database: Database
    fileprivate let access: Access
    private var statements: [String: Statement] = [:]
    /// So many texts are kept prepared. A program has fewer, unless it writes values into them.
    private static let capacity = 256
    /// Whether what SQLite asks about is the domain's, not the journal's own.
    fileprivate var isAsking = false
    /// Whether the statement that is compiled is an ALTER TABLE.
    fileprivate var isAltering = false

    init(_ database: Database, access: Access = .readingAndWriting) {
        (self.database, self.access) = (database, access)
        // Unretained: `detach` takes it back before this goes.
        sqlite3_set_authorizer(database.handle, authorize, Unmanaged.passUnretained(self).toOpaque())
    }
    func detach() {
        statements = [:]
        sqlite3_set_authorizer(database.handle, nil, nil)
    }

    /// Runs a statement; returns how many rows it changed.
    func execute(_ sql: String, _ values: [SQLValue]) throws(SQLiteError) -> Int {
        let before = database.totalChanges
        try run(sql, values) { _ in }
        return database.totalChanges == before ? 0 : Int(database.changes)
    }
    func query<T>(_ sql: String, _ values: [SQLValue], _ row: (borrowing Row) throws -> T) throws -> [T] {
        var results: [T] = []
        var failure: (any Error)?
        try run(sql, values) { current in
            if failure != nil { return }
            do { results.append(try row(current)) } catch { failure = error }
        }
        if let failure { throw failure }
        return results
    }
    private func run(_ sql: String, _ values: [SQLValue], _ row: (borrowing Row) -> Void) throws(SQLiteError) {
        isAsking = true
        defer { isAsking = false }
        let statement = try statement(sql)
        if statement.parameterCount != values.count {
            throw SQLiteError(
                code: SQLITE_RANGE,
                message: "\(values.count) values for \(statement.parameterCount) parameters")
        }
        try statement.rows(values, row)
    }
    private func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = statements[sql] { return statement }
        isAltering = false
        let statement = try database.prepare(sql)
        if isAltering && Self.mayRename(sql) {
            throw SQLiteError(code: SQLITE_AUTH, message: "not authorized")
        }
        if statements.count >= Self.capacity { statements = [:] }
        statements[sql] = statement
        return statement
    }
}

extension DomainSQL {
    /// Whether an ALTER TABLE may give a name that is the journal's: SQLite does not ask about the new one. However it
    /// is quoted, it stands in the text as it is. (A column's new name is refused with it.)
    fileprivate static func mayRename(_ sql: String) -> Bool {
        let text = sql.lowercased()
        return text.contains("rename") && text.contains("relay_")
    }
}

/// Asked by SQLite while it compiles a statement: SQLITE_OK, or SQLITE_DENY, which makes SQLITE_AUTH of it.
private func authorize(
    _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
    _ second: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?
) -> Int32 {
    // Never nil: given with the function.
    guard let context else { return SQLITE_OK }
    let domain = Unmanaged<DomainSQL>.fromOpaque(context).takeUnretainedValue()
    if !domain.isAsking { return SQLITE_OK }
    if action == SQLITE_ALTER_TABLE { domain.isAltering = true }
    if domain.access == .reading {
        return switch action {
        case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE: SQLITE_OK
        case SQLITE_READ: isOurs(first) ? SQLITE_DENY : SQLITE_OK
        default: SQLITE_DENY
        }
    }
    switch action {
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT, SQLITE_ATTACH, SQLITE_DETACH, SQLITE_PRAGMA: return SQLITE_DENY
    // Its arguments are names of functions.
    case SQLITE_FUNCTION: return SQLITE_OK
    // The second is a column.
    case SQLITE_READ, SQLITE_UPDATE: return isOurs(first) ? SQLITE_DENY : SQLITE_OK
    default: return isOurs(first) || isOurs(second) ? SQLITE_DENY : SQLITE_OK
    }
}
/// Whether a name begins with `relay_`, in whatever case.
private func isOurs(_ name: UnsafePointer<CChar>?) -> Bool {
    guard let name else { return false }
    return sqlite3_strnicmp(name, "relay_", 6) == 0
}
