import RelayCore
import RelayTool

/// What ends the service, where its error's code alone does not tell the exit code: the bus and the journal have the same ones.
struct ServiceFailure: Error {
    let code: ExitCode
    let message: String

    init(code: ExitCode, message: String) { (self.code, self.message) = (code, message) }

    /// What the journal says when it is opened. With a cause beneath, an errno or SQLite's, it could not be had; without one it
    /// was read, and refused for what it is.
    init(opening error: any Error) {
        let error = error as? RelayError ?? RelayError(.internalFailure, "\(error)", cause: error)
        message = error.message
        code =
            switch error.code {
            case .conflict: .timedOut
            case .internalFailure: .software
            case .storageFull, .notPermitted: .cannotCreate
            default: error.cause == nil ? .badValue : .cannotCreate
            }
    }
}
