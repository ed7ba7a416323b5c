import Glibc
import RelayTool

/// Why a command ends without success: what a person reads on stderr, and what a script sees.
struct CLIFailure: Error, Equatable, Sendable {
    let code: ExitCode
    /// Names the offending value and says what to do. Made fit for a terminal when it is printed, not before.
    let message: String

    init(_ code: ExitCode, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    static func cannotWrite(errno number: Int32) -> CLIFailure {
        CLIFailure(.outputFailed, "cannot write: \(String(cString: strerror(number)))")
    }
}
