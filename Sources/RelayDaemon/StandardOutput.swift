import Glibc
import RelayTool

/// What the program is asked to print.
package enum StandardOutput {
    /// Throws `.outputFailed` if it was not written: a full disk must not look like success.
    package static func write(_ text: String) throws(ServiceFailure) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        var bytes = (isTerminal ? TerminalDoor.visible(text.utf8) : Array(text.utf8))[...]
        while !bytes.isEmpty {
            // Takes the bytes within the call only.
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 {
                let reason = String(cString: strerror(errno))
                throw ServiceFailure(code: .outputFailed, message: "cannot write to stdout: \(reason)")
            }
            bytes = bytes.dropFirst(count)
        }
    }
}
