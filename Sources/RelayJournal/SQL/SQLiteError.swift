import CSQLite
import Glibc
import RelayCore
package import RelayEvents

/// An error of SQLite with its extended result code: the cause of a `RelayError`.
package struct SQLiteError: Error, NumberedError, SystemCaused, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code, as in `sqlite3.h`: `SQLITE_IOERR_WRITE` is 778.
    package let code: Int32
    /// SQLite's text. It names tables and columns, never values.
    package let message: String
    /// The kernel's reason for an I/O error, as far as it is known: a file system that is read-only, a quota.
    package let system: SystemError?
    /// An error of SQLite.
    ///
    /// - Parameter code: its extended result code.
    /// - Parameter message: its text.
    /// - Parameter system: the kernel's reason.
    package init(code: Int32, message: String, system: SystemError? = nil) {
        (self.code, self.message, self.system) = (code, message, system)
    }
    package var description: String { "\(message)\(system.map { ": \($0)" } ?? "") (SQLite \(code))" }
    /// The primary result code: `SQLITE_IOERR` is 10.
    package var primaryCode: Int32 { code & 0xFF }
}

extension SQLiteError {
    /// A virtual table of the domain's, such as a full-text index, does not agree with what it indexes, or with itself.
    /// The file may be sound, and the journal has no such table.
    var isOfVirtualTable: Bool { code == SQLITE_CORRUPT | 1 << 8 }
    /// After it the transaction as a whole is to be given up: the statement did not fail for what it asked.
    var endsTransaction: Bool {
        if isOfVirtualTable { return false }
        return switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_CANTOPEN,
            SQLITE_INTERRUPT, SQLITE_BUSY, SQLITE_PROTOCOL, SQLITE_PERM:
            true
        default: false
        }
    }
    /// A file may not grow: there is no room on the disk, a quota is used up, or a limit of a file's size is reached.
    /// SQLite takes all but the first for a failure of the medium, and for its log's index that one, too.
    var isFull: Bool {
        switch primaryCode {
        case SQLITE_FULL: true
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            system.map(\.isFull) ?? (code == SQLITE_IOERR | 19 << 8)
        default: false
        }
    }
    /// The file system takes no writes. SQLite says so only of a file that it opens then.
    var isReadOnly: Bool { primaryCode == SQLITE_READONLY || system?.code == EROFS }
    /// Of a COMMIT in the WAL's mode: whether it is certain that nothing was committed. The frame that commits is the
    /// last to be written, and only a whole one counts. Once it is there, its sync or the log's index may fail, while
    /// the next start may find it.
    var isFromBeforeCommit: Bool {
        switch primaryCode {
        case SQLITE_FULL, SQLITE_BUSY, SQLITE_CONSTRAINT, SQLITE_READONLY: true
        // Reading, a read that was short, and writing.
        case SQLITE_IOERR: [1, 2, 3].contains(code >> 8)
        // Virtual tables write what they kept back before anything is committed.
        case SQLITE_CORRUPT: isOfVirtualTable
        default: false
        }
    }
    /// What was written may never reach the disk.
    var isFailedSync: Bool { code == SQLITE_IOERR | 4 << 8 || code == SQLITE_IOERR | 5 << 8 }
    /// The file is not what was written: going on would only add to the damage.
    var isDamage: Bool { primaryCode == SQLITE_CORRUPT && !isOfVirtualTable || primaryCode == SQLITE_NOTADB }

    /// What it means to the caller of the library.
    ///
    /// - Parameter what: what was attempted, as a clause: "a unit of work on FILE".
    func asRelayError(_ what: String) -> RelayError {
        let (code, advice) = meaning
        // Without the kernel's reason, SQLite's own text does not say it of the log's index.
        let reason = isFull && primaryCode != SQLITE_FULL && system == nil ? "the disk is full: \(self)" : "\(self)"
        let error = RelayError(code, "\(what): \(reason); nothing was done\(advice)", cause: self)
        // By its code alone, a program that ends with it would say that there is no bus.
        return StorageTrouble(self) == nil ? error : error.exiting(with: 74)
    }
    private var meaning: (RelayError.Code, String) {
        if let trouble = StorageTrouble(self), trouble.isFull || system != nil {
            return (trouble.code, ": \(trouble.advice), and try again")
        }
        if isOfVirtualTable {
            return (
                .conflict,
                ": a virtual table does not agree with what it indexes; rebuild it (one of FTS5: "
                    + "INSERT INTO t (t) VALUES ('rebuild'))"
            )
        }
        return switch primaryCode {
        case SQLITE_CONSTRAINT: (.conflict, "")
        case SQLITE_TOOBIG: (.tooLarge, "")
        case SQLITE_AUTH:
            (
                .invalidArgument,
                ": tables named relay, relay_… or pragma_…, transactions, ATTACH and PRAGMA are not for the domain"
            )
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
