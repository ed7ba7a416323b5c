import CSQLite
import RelayCore

/// SQLite without the library's settings: as another program has it.
final class RawSQLite {
    private var handle: OpaquePointer?

    init(_ path: String) throws {
        if sqlite3_open(path, &handle) != SQLITE_OK { throw RelayError(.unavailable, "cannot open \(path)") }
    }
    deinit { sqlite3_close(handle) }
    func execute(_ sql: String) throws {
        if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK {
            throw RelayError(.unavailable, sqlite3_errmsg(handle).map { String(cString: $0) } ?? "")
        }
    }
}
