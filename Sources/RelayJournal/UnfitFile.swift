import CSQLite
public import RelayCore

/// Why a file cannot serve as the journal, whichever check found it: the cause of a `RelayError`. Requires an
/// administrator: no restart mends it.
public enum UnfitFile: Error, Hashable, Sendable {
    /// What was written is not what is there, or a part of it is missing.
    case damaged
    /// It is something else's.
    case foreign
    /// Of a version that this program does not know.
    case newer

    /// Whether an error comes from what is in the file, rather than from the way to it.
    ///
    /// - Parameter error: what opening or using the journal threw.
    /// - Returns: false for an error that may be gone at the next attempt, such as a full disk.
    public static func explains(_ error: any Error) -> Bool {
        var next: (any Error)? = error
        while let error = next {
            if error is UnfitFile { return true }
            if let error = error as? SQLiteError { return error.isContradiction }
            next = (error as? RelayError)?.cause
        }
        return false
    }
}

/// Ends a program with 65, EX_DATAERR.
extension UnfitFile: ProgramFailure {
    public var exitCode: Int32 { 65 }
    public var exitMessage: String {
        switch self {
        case .damaged: "the journal is damaged"
        case .foreign: "the file is not a journal"
        case .newer: "the journal is of a newer version"
        }
    }
}

extension SQLiteError {
    /// The file was read: its pages, its tables or its rows are not what a statement needs.
    var isContradiction: Bool {
        switch primaryCode {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH: true
        default: false
        }
    }
}
