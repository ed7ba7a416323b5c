import CSQLite
import RelayCore
public import RelayEvents

/// An error of SQLite with its extended result code: the cause of a `RelayError`.
public struct SQLiteError: Error, NumberedError, Hashable, Sendable, CustomStringConvertible {
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

extension SQLiteError {
    /// After it the transaction as a whole is to be given up: the statement did not fail for what it asked.
    var endsTransaction: Bool {
        switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_CANTOPEN,
            SQLITE_INTERRUPT, SQLITE_BUSY, SQLITE_PROTOCOL, SQLITE_PERM:
            true
        default: false
        }
    }
    /// There is no room on the disk: for the WAL's index, too, which SQLite takes for a failure of the medium.
    var isFull: Bool { primaryCode == SQLITE_FULL || code == SQLITE_IOERR | 19 << 8 }
    /// What was written may never reach the disk.
    var isFailedSync: Bool { code == SQLITE_IOERR | 4 << 8 || code == SQLITE_IOERR | 5 << 8 }
    /// The file is not what was written: going on would only add to the damage.
    var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// What it means to the caller of the library.
    ///
    /// - Parameter what: what was attempted, as a clause: "a unit of work on FILE".
    func asRelayError(_ what: String) -> RelayError {
        let (code, advice) = meaning
        // Of the log's index, SQLite's own text does not say it.
        let reason = isFull && primaryCode != SQLITE_FULL ? "the disk is full: \(self)" : "\(self)"
        return RelayError(code, "\(what): \(reason); nothing was done\(advice)", cause: self)
    }
    private var meaning: (RelayError.Code, String) {
        if isFull { return (.storageFull, ": make room on its file system, and try again") }
        return switch primaryCode {
        case SQLITE_CONSTRAINT: (.conflict, "")
        case SQLITE_TOOBIG: (.tooLarge, "")
        case SQLITE_AUTH:
            (.invalidArgument, ": tables named relay_…, transactions, ATTACH and PRAGMA belong to the journal")
        case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_MISUSE: (.invalidArgument, "")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            (.unavailable, ": the file is damaged; stop the service and restore it from a backup")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN:
            (.unavailable, ": make the file, its -wal and its directory writable to this user")
        case SQLITE_BUSY, SQLITE_LOCKED:
            (.unavailable, ": another program writes to the file; stop it, and try again")
        default: (.unavailable, ": look at the disk, and try again")
        }
    }
}
