import CSQLite
import RelayCore

/// A prepared statement of one connection; used by the thread that uses that connection.
final class Statement {
    private let handle: OpaquePointer
    private let database: OpaquePointer

    /// Prepares the one statement in `sql`. Throws `SQLITE_MISUSE` for none or several.
    ///
    /// - Parameter beforeRest: called before what follows the statement is compiled, too.
    init(_ sql: String, on database: OpaquePointer, beforeRest: () -> Void = {}) throws(SQLiteError) {
        self.database = database
        var handle: OpaquePointer?
        var (code, isAlone): (Int32, Bool) = (SQLITE_OK, true)
        sql.withCString { text in
            var tail: UnsafePointer<CChar>?
            code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
            guard code == SQLITE_OK, let tail, tail.pointee != 0 else { return }
            // Comments and blanks make no statement.
            beforeRest()
            var second: OpaquePointer?
            isAlone = sqlite3_prepare_v2(database, tail, -1, &second, nil) == SQLITE_OK && second == nil
            sqlite3_finalize(second)
        }
        if code != SQLITE_OK { throw SQLiteError(code, of: database) }
        guard let handle, isAlone else {
            sqlite3_finalize(handle)
            throw SQLiteError(code: SQLITE_MISUSE, message: "there must be one statement in a call")
        }
        self.handle = handle
    }
    deinit { sqlite3_finalize(handle) }

    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
    /// Valid until the next step.
    var row: Row { Row(handle) }

    /// Goes on to the next row; false at the end.
    @inline(__always) func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw SQLiteError(sqlite3_extended_errcode(database), of: database)
        }
    }
    /// Ends the run, so that the statement holds no transaction open. Parameters stay bound.
    @inline(__always) func reset() { sqlite3_reset(handle) }
    func clear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Binds, runs to the end, resets.
    func run(_ values: SQLValue...) throws(SQLiteError) {
        defer { clear() }
        try bind(values)
        while try step() {}
    }
    /// The first row's columns as integers, nil without a row.
    func integers(_ values: SQLValue...) throws(SQLiteError) -> [Int64]? {
        defer { clear() }
        try bind(values)
        guard try step() else { return nil }
        return (0..<Int(sqlite3_column_count(handle))).map { row.integer($0) }
    }
    func rows(_ values: [SQLValue], _ body: (borrowing Row) -> Void) throws(SQLiteError) {
        defer { clear() }
        try bind(values)
        while try step() { body(row) }
    }

    // MARK: Parameters, from 1

    @inline(__always) func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }
    @inline(__always) func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }
    /// Without a copy: the bytes must outlast the run.
    @inline(__always) func bind(borrowed bytes: UnsafeRawBufferPointer, at index: Int32) {
        if let start = bytes.baseAddress {
            sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil)
        } else {
            sqlite3_bind_zeroblob(handle, index, 0)
        }
    }
    /// Without a copy: the text must outlast the run.
    @inline(__always) func bind(borrowed text: UnsafeBufferPointer<CChar>, at index: Int32) {
        sqlite3_bind_text(handle, index, text.baseAddress, Int32(text.count), nil)
    }
    func bind(_ values: [SQLValue]) throws(SQLiteError) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }
    private func bind(_ value: SQLValue, at index: Int32) throws(SQLiteError) {
        // SQLITE_TRANSIENT, which C defines as a cast that Swift does not import: SQLite makes a copy.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .integer(let value): sqlite3_bind_int64(handle, index, value)
            case .real(let value): sqlite3_bind_double(handle, index, value)
            case .text(var value):
                value.withUTF8 { utf8 in
                    // Never nil: SQLite takes a nil for NULL.
                    utf8.withMemoryRebound(to: CChar.self) {
                        sqlite3_bind_text64(
                            handle, index, $0.baseAddress ?? UnsafePointer(Self.nothing), UInt64($0.count), copied,
                            UInt8(SQLITE_UTF8))
                    }
                }
            case .blob(let value):
                value.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : value.withUnsafeBytes {
                        sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), copied)
                    }
            case .null: sqlite3_bind_null(handle, index)
            }
        if code != SQLITE_OK { throw SQLiteError(code, of: database) }
    }
    /// One NUL, for ever; only read.
    nonisolated(unsafe) private static let nothing: UnsafeMutablePointer<CChar> = {
        let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        pointer.initialize(to: 0)
        return pointer
    }()
}

extension SQLiteError {
    /// The error of the connection's last call.
    init(_ code: Int32, of database: OpaquePointer?) {
        let extended = sqlite3_extended_errcode(database)
        // The message belongs to the last error: it is of use only when that is the one meant.
        let isLast = extended & 0xFF == code & 0xFF
        let text = isLast ? sqlite3_errmsg(database) : sqlite3_errstr(code)
        // Of these alone SQLite keeps the kernel's number; a read that was short has none.
        let isShort = extended == SQLITE_IOERR | 2 << 8
        let isFromSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) && !isShort
        let number = isFromSystem ? sqlite3_system_errno(database) : 0
        self.init(
            code: isLast ? extended : code, message: text.map { String(cString: $0) } ?? "an error without a message",
            system: number == 0 ? nil : SystemError(number))
    }
}
