import Glibc
import RelayCore
import RelayTool

/// A file that others read at any time: what it has is always whole.
enum WholeFile {
    /// Throws `.cannotCreate` or `.outputFailed` with the path and the reason; the file stays as it was.
    static func write(_ text: String, to path: String) throws(CLIFailure) {
        do throws(SmallTextFile.Unwritten) { try SmallTextFile.replace(path, by: text, mode: 0o644) } catch {
            if error.wasMade { throw CLIFailure(.outputFailed, "cannot write '\(path)': \(error.error)") }
            // The name beside it is none of the caller's concern.
            throw CLIFailure(
                .cannotCreate,
                "cannot make '\(path)': \(error.error); its folder must exist, and let user \(geteuid()) write")
        }
    }
}
