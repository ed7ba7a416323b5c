import Glibc
import RelayCore

/// A file that the kernel writes anew each time it is read.
final class ProcFile {
    /// More than the kernel has to report of 4,096 processors.
    static let longest = 4 << 20

    let path: String
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    /// Throws `Unavailable` with the path and the reason.
    init(_ path: String) throws(RelayError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw Self.refusal(path, errno) }
    }
    deinit { close(descriptor) }

    private static func refusal(_ path: String, _ number: Int32) -> RelayError {
        let cause = SystemError(number)
        return RelayError(.unavailable, "cannot read \(path): \(cause)", cause: cause)
    }

    /// Its present content. The bytes are to be let go before the next call, which takes their place.
    func read() throws(RelayError) -> ArraySlice<UInt8> {
        var count = 0
        while true {
            if count == buffer.count {
                if count >= Self.longest { throw Self.refusal(path, EFBIG) }
                buffer += [UInt8](repeating: 0, count: count)
            }
            let result = buffer.withUnsafeMutableBytes { bytes in
                // Within the buffer: `count` is below its size.
                pread(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count, off_t(count))
            }
            if result == 0 { return buffer[..<count] }
            if result < 0 && errno != EINTR { throw Self.refusal(path, errno) }
            count += max(0, result)
        }
    }
}

extension ProcFile {
    /// Its present content, parsed. Throws `Internal` with the path for a text that is not as expected.
    func figures<Figures>(_ parse: (ArraySlice<UInt8>) throws(ProcFault) -> Figures) throws(RelayError) -> Figures {
        let text = try read()
        do throws(ProcFault) { return try parse(text) } catch { throw error.relayError(path) }
    }
}

/// The clock of `TelemetryEvent.uptime`.
enum Uptime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000 &+ UInt64(time.tv_nsec) / 1_000
    }
}

/// A text of the kernel's that is not as expected.
struct ProcFault: Error, Equatable {
    /// What is missing or no number: "a number of 'cpu3'".
    let what: String

    func relayError(_ path: String) -> RelayError {
        RelayError(.internalFailure, "\(path) has not \(what): this kernel writes it otherwise", cause: self)
    }
}
