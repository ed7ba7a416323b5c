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
    /// Whether the domain's own text is compiled, and SQLite has asked nothing about it yet.
    fileprivate var isFirstQuestion = false
    /// Whether that text has the word in it, which a PRAGMA cannot be written without.
    fileprivate var mayBePragma = false
    /// Whether the statement is an ALTER TABLE.
    fileprivate var isAltering = false
    /// Whether it changes the schema, or is the first to need a virtual table.
    fileprivate var isDefining = false

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
        (isAsking, isAltering, isDefining) = (true, false, false)
        defer { isAsking = false }
        let statement = try statement(sql)
        if statement.parameterCount != values.count {
            throw SQLiteError(
                code: SQLITE_RANGE,
                message:
                    "\(values.count) values for \(statement.parameterCount) parameters: a value stands without quotes")
        }
        if isDefining {
            try define { () throws(SQLiteError) in try statement.rows(values, row) }
        } else {
            try statement.rows(values, row)
        }
    }
    private func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = statements[sql] { return statement }
        (isFirstQuestion, mayBePragma) = (true, sql.lowercased().contains("pragma"))
        defer { isFirstQuestion = false }
        // What follows is no part of the statement, but SQLite compiles it, too.
        let statement = try database.prepare(sql) { isFirstQuestion = true }
        // One that changes the schema is seen to do so only here, and is run once, most often.
        isDefining = isDefining && access == .readingAndWriting
        if isDefining { return statement }
        if statements.count >= Self.capacity { statements = [:] }
        statements[sql] = statement
        return statement
    }
    /// Runs a statement that changes the schema, and undoes it where it made what the domain may not have: SQLite asks
    /// neither about the new name of a table nor about what a foreign key refers to. What was there before is no fault
    /// of this one.
    private func define(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        let before = try faults()
        try runOwn("SAVEPOINT relay_definition")
        do throws(SQLiteError) {
            try body()
            if let fault = try faults().first(where: { !before.contains($0) }) { throw fault }
        } catch {
            // An error of the disk may have ended the transaction, and the savepoint with it.
            if database.isInTransaction { try runOwn("ROLLBACK TO relay_definition; RELEASE relay_definition") }
            throw error
        }
        try runOwn("RELEASE relay_definition")
    }
    private func runOwn(_ sql: String) throws(SQLiteError) {
        let before = isAsking
        isAsking = false
        defer { isAsking = before }
        try database.execute(sql)
    }
    private func faults() throws(SQLiteError) -> [SQLiteError] {
        let before = isAsking
        isAsking = false
        defer { isAsking = before }
        var faults: [SQLiteError] = []
        for schema in ["main", "temp"] {
            let shadows = try JournalSchema.shadows(in: schema, of: database)
            var claims = try shadows + JournalSchema.claims(in: schema, of: database)
            if shadows.isEmpty { claims += try JournalSchema.references(in: schema, of: database) }
            faults += claims.map { SQLiteError(code: SQLITE_AUTH, message: $0) }
        }
        // A start reads all of them before it knows whose file it is.
        let long = try database.texts(
            "SELECT name FROM sqlite_master WHERE length(CAST(sql AS BLOB)) > \(Database.longestDefinition)")
        return faults
            + long.map { name in
                SQLiteError(
                    code: SQLITE_TOOBIG,
                    message: "the definition of \(name) has more than \(Database.longestDefinition) bytes")
            }
    }
}

extension DomainSQL {
    /// Whether a PRAGMA is a statement of the domain's: about no other statement it is the first question, unless SQLite
    /// needs one to look at a table. Its own are means to carry out a permitted statement, and differ between its
    /// releases: from 3.46 on, ALTER TABLE checks a table by one; a full-text index reads a counter.
    fileprivate func isOwnPragma(isFirst: Bool) -> Bool { isFirst && mayBePragma }
    /// Whether a table is a pragma in the form of one. An ALTER TABLE has no place for the domain to name it.
    fileprivate func isPragma(_ table: UnsafePointer<CChar>?) -> Bool {
        !isAltering && namesPragma(table)
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
    if isDefinition(action) { domain.isDefining = true }
    let isFirst = domain.isFirstQuestion
    domain.isFirstQuestion = false
    switch action {
    case SQLITE_PRAGMA: return domain.isOwnPragma(isFirst: isFirst) ? SQLITE_DENY : SQLITE_OK
    // The second is a column.
    case SQLITE_READ: return isOurs(first) || domain.isPragma(first) ? SQLITE_DENY : SQLITE_OK
    // The arguments of the second are names of functions.
    case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE: return SQLITE_OK
    // Before 3.46, so that a virtual table can be declared; the schema itself cannot be written.
    case SQLITE_UPDATE where domain.access == .reading && isSchema(first): return SQLITE_OK
    case _ where domain.access == .reading: return SQLITE_DENY
    case SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_VIEW, SQLITE_CREATE_TEMP_VIEW,
        SQLITE_CREATE_VTABLE:
        return isOurs(first) || isOurs(second) || namesPragma(first) ? SQLITE_DENY : SQLITE_OK
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT, SQLITE_ATTACH, SQLITE_DETACH: return SQLITE_DENY
    case SQLITE_UPDATE: return isOurs(first) ? SQLITE_DENY : SQLITE_OK
    default: return isOurs(first) || isOurs(second) ? SQLITE_DENY : SQLITE_OK
    }
}
private func isDefinition(_ action: Int32) -> Bool {
    switch action {
    case SQLITE_ALTER_TABLE, SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_VTABLE, SQLITE_CREATE_INDEX,
        SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_VIEW, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TRIGGER,
        SQLITE_CREATE_TEMP_TRIGGER:
        true
    default: false
    }
}
private func isSchema(_ name: UnsafePointer<CChar>?) -> Bool { sqlite3_stricmp(name, "sqlite_master") == 0 }
/// Whether a name begins as SQLite's functions do by which pragmas are read: a table of that name would hide one.
private func namesPragma(_ name: UnsafePointer<CChar>?) -> Bool {
    guard let name else { return false }
    return sqlite3_strnicmp(name, "pragma_", 7) == 0
}
/// Whether a name begins with `relay_`, in whatever case.
private func isOurs(_ name: UnsafePointer<CChar>?) -> Bool {
    guard let name else { return false }
    return sqlite3_strnicmp(name, "relay_", 6) == 0
}
