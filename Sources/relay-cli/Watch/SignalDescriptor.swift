import CRelayShims
import Glibc
import RelayTool

/// Something that can ask `watch` to end.
protocol EndRequest {
    /// Readable from when it does so; -1: never.
    var descriptor: Int32 { get }
}

/// A descriptor that becomes readable when one of these signals comes, instead of what they would do.
///
/// To be made before any other thread, which then inherits that they are blocked.
final class SignalDescriptor: EndRequest {
    let descriptor: Int32

    /// Throws `.software` when the process has no descriptor left.
    init(_ numbers: [Int32] = [SIGINT, SIGTERM]) throws(CLIFailure) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers {
            sigaddset(&signals, number)
            // A shell's background job begins with SIGINT ignored, which would hide one that is sent to it by id.
            signal(number, SIG_DFL)
        }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        descriptor = signalfd(-1, &signals, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        if descriptor < 0 { throw CLIFailure(.software, "no signalfd: \(String(cString: strerror(errno)))") }
    }
    deinit { close(descriptor) }

    /// The number of one that has come; nil: none is left.
    func next() -> Int32? {
        var info = signalfd_siginfo()
        let count = read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size)
        return count == MemoryLayout<signalfd_siginfo>.size ? Int32(clamping: info.ssi_signo) : nil
    }
}
