import Glibc
import RelayTool

/// A file that others read at any time: it is written beside its place, and takes it when it is whole.
enum WholeFile {
    private static let attempts = 10

    /// Throws `.cannotCreate` or `.outputFailed` with the path and the reason; the file stays as it was.
    static func write(_ text: String, to path: String) throws(CLIFailure) {
        var (unfinished, descriptor) = (path, Int32(-1))
        // In a folder where others write, too, nobody can have made what nobody can foresee; and if so, it is not used.
        for _ in 0..<attempts {
            unfinished = path + "." + String(UInt64.random(in: .min ... .max), radix: 36)
            descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
            if descriptor >= 0 || errno != EEXIST { break }
        }
        if descriptor < 0 {
            // The name beside it is none of the caller's concern.
            throw CLIFailure(
                .cannotCreate,
                "cannot make '\(path)': \(String(cString: strerror(errno))); its folder must exist, and let user "
                    + "\(geteuid()) write")
        }
        var rest = Array(text.utf8)[...]
        var number: Int32 = 0
        while !rest.isEmpty && number == 0 {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { number = errno }
            rest = rest.dropFirst(max(0, count))
        }
        if close(descriptor) != 0 && number == 0 { number = errno }
        if number == 0 && rename(unfinished, path) != 0 { number = errno }
        if number == 0 { return }
        unlink(unfinished)
        throw CLIFailure(.outputFailed, "cannot write '\(path)': \(String(cString: strerror(number)))")
    }
}
