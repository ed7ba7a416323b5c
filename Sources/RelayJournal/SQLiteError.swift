/// An error of SQLite, by its extended result code: the cause of a `RelayError`.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code, as in `sqlite3.h`: `SQLITE_IOERR_WRITE` is 778.
    public let code: Int32
    /// SQLite's text. It names tables and columns, never values.
    public let message: String
    /// An error of SQLite.
    ///
    /// - Parameter code: its extended result code.
    /// - Parameter message: its text.
    package init(code: Int32, message: String) { (self.code, self.message) = (code, message) }
    public var description: String { "\(message) (SQLite \(code))" }
    /// The primary result code: `SQLITE_IOERR` is 10.
    package var primaryCode: Int32 { code & 0xFF }
}
