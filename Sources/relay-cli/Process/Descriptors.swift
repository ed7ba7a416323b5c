import CRelayShims
import Glibc
import RelayCore
import RelayTool

extension StandardDescriptors {
    /// A descriptor of the same terminal that never waits; for what is no terminal, the same descriptor.
    ///
    /// A terminal with room for a few bytes is writable to poll(2), and makes a write of more wait for its reader. The mode
    /// is this opening's, so that nobody else's writes change.
    static func unwaiting(_ descriptor: Int32) -> Int32 {
        guard isatty(descriptor) == 1 else { return descriptor }
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        return own < 0 ? descriptor : own
    }
}

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
