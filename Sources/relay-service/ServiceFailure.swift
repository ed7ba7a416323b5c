import RelayCore
import RelayJournal
import RelayTool

/// What ends the service, where its error's code alone does not tell the exit code: the bus and the journal have the same ones.
struct ServiceFailure: Error {
    let code: ExitCode
    let message: String

    init(code: ExitCode, message: String) { (self.code, self.message) = (code, message) }

    /// What the journal says when it is opened: either the file was read, and is refused for what is in it, or it could not be had.
    init(opening error: any Error) {
        message = (error as? RelayError)?.message ?? "\(error)"
        code =
            if UnfitFile.explains(error) {
                .badValue
            } else {
                switch (error as? RelayError)?.code {
                case RelayError.Code.conflict?: .timedOut
                case RelayError.Code.internalFailure?, nil: .software
                default: .cannotCreate
                }
            }
    }
}
