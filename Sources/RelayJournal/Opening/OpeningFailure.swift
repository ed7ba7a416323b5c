import RelayCore

extension RelayError {
    /// Why a journal cannot be opened, with the exit code that says whether to start again is of use: not where the file
    /// was read and is refused for what is in it (65), nor where it could not be had (73). What may be over by then is a
    /// full disk, an error of the disk's (74), and another journal in the directory (75).
    var ofOpening: RelayError {
        if UnfitJournal.explains(self) { return exiting(with: 65) }
        return switch code {
        case .conflict, .storageFull, .internalFailure, .cancelled: self
        case .unavailable where cause is SQLiteError || (cause as? SystemError)?.isPassing == true: exiting(with: 74)
        default: exiting(with: 73)
        }
    }
}

/// Opens a journal, or does what its first user does; throws what fails with the exit code for that.
func opening<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as RelayError { throw error.ofOpening }
}
