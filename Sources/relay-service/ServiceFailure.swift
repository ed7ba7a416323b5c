import Glibc
import RelayCore
import RelayJournal
import RelayTool

/// What ends the service, where its error's code alone does not decide the exit code: the bus and the journal have the
/// same ones.
struct ServiceFailure: ProgramFailure {
    let code: ExitCode
    let message: String
    var exitCode: Int32 { code.rawValue }
    var exitMessage: String { "error: \(message)" }

    init(code: ExitCode, message: String) { (self.code, self.message) = (code, message) }

    /// Any other error, by its own exit code.
    init(_ error: any Error) {
        let code = (error as? any ProgramFailure).flatMap { ExitCode(rawValue: $0.exitCode) }
        self.init(code: code ?? .software, message: (error as? RelayError)?.message ?? "\(error)")
    }
    /// What stopped the journal while it was used: what is in it, which only an administrator can mend, or the disk.
    init(using error: RelayError) {
        self.init(code: UnfitJournal.explains(error) ? .badValue : .outputFailed, message: error.message)
    }

    /// Whether an error comes from the disk, and not from what is at a path, or from who may use it.
    static func isOfDisk(_ cause: (any Error)?) -> Bool {
        if cause is SQLiteError { return true }
        return [EIO, EROFS, ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE].contains((cause as? SystemError)?.code)
    }
    /// Why the journal cannot be opened: either the file was read, and is refused for what is in it, or it could not be
    /// had.
    init(opening error: any Error) {
        message = (error as? RelayError)?.message ?? "\(error)"
        code =
            if UnfitJournal.explains(error) {
                .badValue
            } else {
                switch (error as? RelayError)?.code {
                case RelayError.Code.conflict?: .timedOut
                // What may be over when it is tried again: a full disk, an error of the disk's, a lock of another
                // program's.
                case RelayError.Code.storageFull?: .outputFailed
                case RelayError.Code.unavailable? where Self.isOfDisk((error as? RelayError)?.cause): .outputFailed
                case RelayError.Code.internalFailure?, nil: .software
                default: .cannotCreate
                }
            }
    }
}
