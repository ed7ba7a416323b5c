import CSQLite
import RelayCore

/// Why a file cannot be used as the journal: the cause of a `RelayError`. It requires an administrator, because a
/// restart does not help.
package enum UnfitJournal: Error, Hashable, Sendable {
    /// The file's content differs from what the journal wrote, or a part of it is missing.
    case damaged
    /// The file belongs to another program.
    case foreign
    /// The file has a version that this program does not know.
    case newer
    /// The file has the form of an earlier program.
    case older

    /// Whether the content of the file caused an error.
    ///
    /// - Parameter error: what opening or using the journal threw.
    /// - Returns: false for an error that may be gone at the next attempt, such as a full disk.
    package static func explains(_ error: any Error) -> Bool {
        var next: (any Error)? = error
        while let error = next {
            if error is UnfitJournal { return true }
            if let error = error as? SQLiteError { return error.isContradiction }
            next = (error as? RelayError)?.cause
        }
        return false
    }
}

/// Ends a program with 65, EX_DATAERR.
extension UnfitJournal: ProgramFailure {
    package var exitCode: Int32 { 65 }
    package var exitMessage: String {
        switch self {
        case .damaged: "the journal is damaged"
        case .foreign: "the file is not a journal"
        case .newer: "the journal is of a newer version"
        case .older: "the journal has the form of an earlier program"
        }
    }
}

extension SQLiteError {
    /// The file was read: its pages, its tables or its rows are not what a statement needs.
    var isContradiction: Bool {
        if isOfVirtualTable { return false }
        return switch primaryCode {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: true
        default: false
        }
    }
}
