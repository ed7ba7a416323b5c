import Glibc
package import RelayCore

extension RelayError {
    /// Why a journal cannot be opened, with the exit code that says whether to start again is of use: not where the file
    /// was read and is refused for what is in it (65), nor where it could not be had (73). What may be over by then is a
    /// full disk, an error of the disk's (74), and another journal in the directory (75).
    package var ofOpening: RelayError {
        if UnfitJournal.explains(self) { return exiting(with: 65) }
        return switch code {
        case .conflict, .storageFull, .internalFailure, .cancelled: self
        case .unavailable where isOfDisk: exiting(with: 74)
        default: exiting(with: 73)
        }
    }
    /// Whether it comes from the disk, and not from what is at a path, or from who may use it.
    package var isOfDisk: Bool {
        if cause is SQLiteError { return true }
        return [EIO, EROFS, ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE].contains((cause as? SystemError)?.code)
    }
}
