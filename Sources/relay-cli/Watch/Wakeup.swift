import CRelayShims
import Glibc
import RelayTool

/// A descriptor that becomes readable when another thread says so.
final class Wakeup: Sendable {
    let descriptor: Int32

    /// Throws `.software` when the process has no descriptor left.
    init() throws(CLIFailure) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { throw CLIFailure(.software, "no eventfd: \(String(cString: strerror(errno)))") }
    }
    deinit { close(descriptor) }

    func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)  // Fails only when 2^64 wake-ups wait: then it is readable anyway.
    }
    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
