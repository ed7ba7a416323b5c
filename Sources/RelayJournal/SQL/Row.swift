import CSQLite
import RelayCore
/// A row of a query, valid only during the call that receives it.
///
/// ```swift
/// let jobs = try unit.query("SELECT id, title, note FROM jobs") { row in
///     Job(id: try row["id"], title: try row["title"], note: try row["note"])  // `note: String?`: nil for NULL
/// }
/// ```
///
/// Columns are numbered from 0. A column has the name that the query gives it (`AS`); upper and lower case do not
/// matter.
public struct Row: ~Copyable {
    private let handle: OpaquePointer
    init(_ handle: OpaquePointer) { self.handle = handle }

    // MARK: By type

    /// A column, by its position.
    ///
    /// - Parameter column: the column, from 0.
    /// - Parameter type: the type to read; an optional for a column that can be NULL.
    /// - Throws: `.schemaMismatch` for a value of another type or out of its range, for NULL where the type is no optional,
    ///   and for a column that the row lacks.
    public subscript<Value: SQLStorable>(_ column: Int, as type: Value.Type = Value.self) -> Value {
        get throws(RelayError) {
            if !(0..<count).contains(column) {
                throw RelayError(.schemaMismatch, "the row has no column \(column), but \(count) columns from 0")
            }
            let stored = value(column)
            if let value = Value(stored: stored) { return value }
            if stored == .null {
                throw RelayError(
                    .schemaMismatch,
                    "column \(describe(column)) is NULL: read it as \(Value.self)?, or declare it NOT NULL")
            }
            throw RelayError(.schemaMismatch, "column \(describe(column)) has \(stored.kind) that is no \(Value.self)")
        }
    }
    /// A column, by its name.
    ///
    /// - Parameter name: the name that the query gives it. Of two columns with one name, the first is read.
    /// - Parameter type: the type to read; an optional for a column that can be NULL.
    /// - Throws: as by position.
    public subscript<Value: SQLStorable>(_ name: String, as type: Value.Type = Value.self) -> Value {
        get throws(RelayError) { try self[column(name), as: type] }
    }
    private func column(_ name: String) throws(RelayError) -> Int {
        if let column = name.withCString({ find($0) }) { return column }
        let names = (0..<count).map { self.name($0) ?? "" }.joined(separator: ", ")
        throw RelayError(.schemaMismatch, "the row has no column '\(name)'; it has \(names)")
    }
    private func find(_ name: UnsafePointer<CChar>) -> Int? {
        (0..<count).first { column in
            // The statement's, and valid as long as it is.
            let text = sqlite3_column_name(handle, Int32(truncatingIfNeeded: column))
            return text != nil && sqlite3_stricmp(text, name) == 0
        }
    }
    /// The name that the query gives a column; nil for a column that the row lacks.
    ///
    /// - Parameter column: the column, from 0.
    func name(_ column: Int) -> String? {
        sqlite3_column_name(handle, Int32(clamping: column)).map { String(cString: $0) }
    }
    private func describe(_ column: Int) -> String { "\(column) ('\(name(column) ?? "")')" }

    // MARK: As SQLite converts, for this package's own tables

    /// As an integer: SQLite converts; NULL is 0.
    ///
    /// - Parameter column: the column, from 0.
    package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column)) }
    /// As a floating-point number: SQLite converts; NULL is 0.
    ///
    /// - Parameter column: the column, from 0.
    package func real(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(truncatingIfNeeded: column)) }
    /// As text: SQLite converts; NULL is empty, and invalid UTF-8 is repaired.
    ///
    /// - Parameter column: the column, from 0.
    package func text(_ column: Int) -> String {
        withText(column) { String(decoding: $0, as: UTF8.self) }
    }
    /// As bytes; NULL has none.
    ///
    /// - Parameter column: the column, from 0.
    package func blob(_ column: Int) -> [UInt8] { withBlob(column) { Array($0) } }

    // MARK: The same, by the name that the query gives a column

    /// Of a column that the query does not have, nothing is read: as of NULL.
    func place(_ name: StaticString) -> Int {
        // A literal's bytes, with a NUL behind them.
        find(UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)) ?? -1
    }
    func integer(_ name: StaticString) -> Int64 { integer(place(name)) }
    func text(_ name: StaticString) -> String { text(place(name)) }
    func blob(_ name: StaticString) -> [UInt8] { blob(place(name)) }

    // MARK: As it is

    /// Whether a column is NULL, or missing in the row.
    ///
    /// - Parameter column: the column, from 0.
    package func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(clamping: column)) == SQLITE_NULL
    }
    /// The value of a column, as SQLite stores it; ``SQLValue/null`` for a column that the row lacks.
    ///
    /// - Parameter column: the column, from 0.
    func value(_ column: Int) -> SQLValue {
        switch sqlite3_column_type(handle, Int32(clamping: column)) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }
    /// The number of columns.
    var count: Int { Int(sqlite3_column_count(handle)) }

    func withText<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // SQLite's order: the text first, then how long it is.
        let start = sqlite3_column_text(handle, Int32(truncatingIfNeeded: column))
        let count = Int(sqlite3_column_bytes(handle, Int32(truncatingIfNeeded: column)))
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
    @inline(__always)
    func withBlob<Result, Failure: Error>(
        _ column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = sqlite3_column_blob(handle, Int32(truncatingIfNeeded: column))
        let count = Int(sqlite3_column_bytes(handle, Int32(truncatingIfNeeded: column)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
}
