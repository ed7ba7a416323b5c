import Glibc

/// Input, output and error, which a parent may have closed.
enum StandardDescriptors {
    /// Takes their places, so that no socket gets one of their numbers and is written to as if it were the output.
    static func reserve() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // Read-only: writing to it is as much an error as before. The lowest free number is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

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
