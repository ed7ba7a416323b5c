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
}
