import CSQLite
import RelayCore

/// One connection to an SQLite file; used by one thread at a time.
final class Database {
    /// For this module's C calls.
    let handle: OpaquePointer
    let path: String

    /// Opens the file. It is not read before the first statement.
    ///
    /// - Parameter isImmutable: nothing is locked, and no file is made beside this one; a WAL is left out.
    /// - Parameter vfs: the name of the file layer; nil for SQLite's own.
    init(_ path: String, isReadOnly: Bool, isImmutable: Bool = false, vfs: String?) throws(SQLiteError) {
        self.path = path
        var handle: OpaquePointer?
        // No lock of its own: a thread owns it. Never creates: a file that is missing is to be noticed.
        var flags = (isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
        if isImmutable { flags |= SQLITE_OPEN_URI }
        let code = sqlite3_open_v2(isImmutable ? Self.immutable(path) : path, &handle, flags, vfs)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(code, of: handle)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.patience)
        // The file may come from elsewhere: its schema runs no functions, and is not written by hand. Both
        // settings are known to every SQLite that this builds with, and cannot fail.
        _ = relay_sqlite_set(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = relay_sqlite_set(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    }
    private static func immutable(_ path: String) -> String {
        let plain = Set("/._-~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let digits = Array("0123456789ABCDEF")
        var name = "file:"
        for byte in path.utf8 {
            if plain.contains(byte) {
                name.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                name += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return name + "?immutable=1"
    }
    /// Milliseconds that a foreign program may hold the file's lock.
    private static let patience: Int32 = 5_000

    /// For a file that is only examined, of any origin: its views are not expanded, and no value in it is read that is
    /// longer than the journal's own and the schema's are.
    func distrust() {
        _ = relay_sqlite_set(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        _ = relay_sqlite_set(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        limitValues(to: Self.longestOwnValue)
    }
    /// A table's definition, in bytes: what the domain may make.
    static let longestDefinition = 1 << 20
    /// More than an event, and than a definition to which SQLite has added a column.
    static let longestOwnValue: Int32 = 4 << 20
    /// Values that are longer are an error, SQLITE_TOOBIG. Returns what the bound was.
    @discardableResult
    func limitValues(to length: Int32) -> Int32 { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, length) }
    /// Whether closing leaves the WAL as it is. Otherwise the last connection that is closed moves it into the file,
    /// and removes it.
    func keepLogAtClose(_ isKept: Bool) {
        _ = relay_sqlite_set(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isKept ? 1 : 0)
    }
    /// Ends the statement that runs, if one does. From any thread, as long as the connection is not being closed.
    func interrupt() { sqlite3_interrupt(handle) }
    // Statements that are left end it later.
    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that have no parameters.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw SQLiteError(code, of: handle) }
    }
    /// - Parameter beforeRest: called before what follows the statement is compiled, too.
    func prepare(_ sql: String, beforeRest: () -> Void = {}) throws(SQLiteError) -> Statement {
        try Statement(sql, on: handle, beforeRest: beforeRest)
    }
    /// The first row's columns as integers, nil without a row.
    func integers(_ sql: String) throws(SQLiteError) -> [Int64]? { try prepare(sql).integers() }
    /// The first column of all rows.
    func texts(_ sql: String) throws(SQLiteError) -> [String] {
        var texts: [String] = []
        try prepare(sql).rows([]) { texts.append($0.text(0)) }
        return texts
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
    var totalChanges: Int64 { sqlite3_total_changes64(handle) }
    var changes: Int64 { sqlite3_changes64(handle) }
    /// Whether a foreign key, checked at the commit, would fail now.
    var hasOpenForeignKeys: Bool {
        var (current, high): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &high, 0)
        return current != 0
    }

    /// An error of a COMMIT, with the kernel's reason. SQLite 3.40 has an older one for it, or none; the log's file has
    /// that of its last failure.
    func explained(_ error: SQLiteError) -> SQLiteError {
        guard error.primaryCode == SQLITE_IOERR else { return error }
        // Writing and syncing.
        let isOfLog = [3, 4, 5].contains(error.code >> 8)
        let number = isOfLog ? FileBelow(SQLITE_FCNTL_JOURNAL_POINTER, of: self)?.lastError ?? 0 : 0
        return SQLiteError(
            code: error.code, message: error.message, system: number == 0 ? nil : SystemError(number))
    }

    enum Checkpoint {
        /// What can be had without waiting for readers.
        case passive
        /// All, and cuts the WAL to nothing.
        case truncate
        var mode: Int32 { self == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE }
    }
    /// Copies the WAL into the file. Returns the pages that the WAL holds, and how many of them were copied.
    @discardableResult
    func checkpoint(_ kind: Checkpoint) throws(SQLiteError) -> (held: Int, copied: Int) {
        var (held, copied): (Int32, Int32) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(handle, "main", kind.mode, &held, &copied)
        if code != SQLITE_OK { throw SQLiteError(code, of: handle) }
        return (Int(held), Int(copied))
    }
}
