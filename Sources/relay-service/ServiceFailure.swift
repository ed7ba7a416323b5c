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
}
