import RelayCore
package import RelayTool

/// What ends a daemon, where its error's code alone does not decide the exit code: the bus and the journal have the same
/// ones.
package struct ServiceFailure: ProgramFailure {
    package let code: ExitCode
    package let message: String
    package var exitCode: Int32 { code.rawValue }
    package var exitMessage: String { "error: \(message)" }

    package init(code: ExitCode, message: String) { (self.code, self.message) = (code, message) }

    /// Any other error, by its own exit code.
    package init(_ error: any Error) {
        let code = (error as? any ProgramFailure).flatMap { ExitCode(rawValue: $0.exitCode) }
        self.init(code: code ?? .software, message: (error as? RelayError)?.message ?? "\(error)")
    }
}
