import CSQLite

/// A row of a query, valid during the call that receives it. Columns count from 0; one that the row lacks reads as
/// NULL.
public struct Row: ~Copyable {
    private let handle: OpaquePointer
    init(_ handle: OpaquePointer) { self.handle = handle }

    /// As an integer: SQLite converts; NULL is 0.
    ///
    /// - Parameter column: the column, from 0.
    public func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column)) }
    /// As a floating-point number: SQLite converts; NULL is 0.
    ///
    /// - Parameter column: the column, from 0.
    public func real(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(truncatingIfNeeded: column)) }
    /// As text: SQLite converts; NULL is empty, and invalid UTF-8 is repaired.
    ///
    /// - Parameter column: the column, from 0.
    public func text(_ column: Int) -> String {
        withText(column) { String(decoding: $0, as: UTF8.self) }
    }
    /// As bytes; NULL has none.
    ///
    /// - Parameter column: the column, from 0.
    public func blob(_ column: Int) -> [UInt8] { withBlob(column) { Array($0) } }
    /// Whether it is NULL.
    ///
    /// - Parameter column: the column, from 0.
    public func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_NULL
    }
    /// As SQLite stores it.
    ///
    /// - Parameter column: the column, from 0.
    public func value(_ column: Int) -> SQLValue {
        switch sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }
    /// The number of columns.
    public var count: Int { Int(sqlite3_column_count(handle)) }

    func withText<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // SQLite's order: the text first, then how long it is.
        let start = sqlite3_column_text(handle, Int32(truncatingIfNeeded: column))
        let count = Int(sqlite3_column_bytes(handle, Int32(truncatingIfNeeded: column)))
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
    @inline(__always)
    func withBlob<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = sqlite3_column_blob(handle, Int32(truncatingIfNeeded: column))
        let count = Int(sqlite3_column_bytes(handle, Int32(truncatingIfNeeded: column)))
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
}
