import CSQLite
import RelayCore
import Relocation
import TestSupport
/// A journal's file, read by SQLite alone: none of our code stands between.
final class JournalFile {
    struct Row: Equatable {
        let sequence: UInt64
        let name: String
    }
    private let database: OpaquePointer

    /// For reading, while a service may run or after it.
    init(_ path: String) throws {
        var database: OpaquePointer?
        let code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil)
        guard code == SQLITE_OK, let database else {
            sqlite3_close(database)
            throw RelayError(.unavailable, "sqlite3 does not open \(path): \(code)")
        }
        sqlite3_busy_timeout(database, 10_000)
        self.database = database
    }
    deinit { sqlite3_close(database) }

    /// What SQLite finds wrong with the file; "ok" if nothing.
    func integrity() throws -> [String] { try rows("PRAGMA integrity_check") { $0.text(0) } }
    /// The tables of the state.
    func contents() throws -> Warehouse {
        Warehouse(
            boxes: try rows("SELECT id, capacity, title FROM relocation_boxes") {
                Contents.Box(boxID: $0.integer(0), capacity: Int32($0.integer(1)), title: $0.text(2))
            },
            items: try rows("SELECT id, box_id, title FROM relocation_items") {
                Contents.Item(itemID: $0.integer(0), boxID: $0.integer(1), title: $0.text(2))
            })
    }
    func events(of interface: String) throws -> [Row] {
        let sql = """
            SELECT relay_events.sequence, relay_schemas.name FROM relay_events
            JOIN relay_interfaces ON id = relay_events.interface
            JOIN relay_schemas ON relay_schemas.interface = id AND number = schema
            WHERE relay_interfaces.name = '\(interface)' ORDER BY relay_events.sequence
            """
        return try rows(sql) { Row(sequence: UInt64($0.integer(0)), name: $0.text(1)) }
    }
    /// All that the file has of each event, as text.
    func wholeEvents(of interface: String) throws -> [String] {
        let sql = """
            SELECT relay_events.sequence || ' ' || schema || ' ' || relay_schemas.fields || ' ' || hex(body)
            FROM relay_events JOIN relay_interfaces ON id = relay_events.interface JOIN relay_schemas ON number = schema
            WHERE relay_interfaces.name = '\(interface)' ORDER BY relay_events.sequence
            """
        return try rows(sql) { $0.text(0) }
    }
    func runs(of interface: String) throws -> [StreamRun] {
        let sql = """
            SELECT epoch, first FROM relay_runs JOIN relay_interfaces ON id = interface WHERE name = '\(interface)'
            ORDER BY relay_runs.rowid
            """
        return try rows(sql) {
            StreamRun(epoch: UInt64(bitPattern: $0.integer(0)), first: UInt64(bitPattern: $0.integer(1)))
        }
    }

    // MARK: Statements

    struct Columns {
        fileprivate let statement: OpaquePointer
        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
        func text(_ column: Int32) -> String {
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }
    }
    private func rows<Value>(_ sql: String, _ row: (Columns) -> Value) throws -> [Value] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw RelayError(.internalFailure, "\(sql): \(String(cString: sqlite3_errmsg(database)))")
        }
        defer { sqlite3_finalize(statement) }
        var values: [Value] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: values.append(row(Columns(statement: statement)))
            case SQLITE_DONE: return values
            default: throw RelayError(.internalFailure, "\(sql): \(String(cString: sqlite3_errmsg(database)))")
            }
        }
    }
}
