import CRelayShims
import Glibc

/// Input, output and error, which a parent may have closed.
package enum StandardDescriptors {
    /// Takes their places, so that nothing that is opened later gets one of their numbers: a line of the log would be
    /// written to it.
    package static func reserve() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // Read-only: writing to it is as much an error as before. The lowest free number is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}

package enum OpenFile {
    /// What a file has from where it stands, so many bytes at the most.
    package static func read(_ descriptor: Int32, atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: min(limit, 64 << 10))
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &block, min(block.count, limit - bytes.count))
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw SystemError(errno) }
            if count == 0 { break }
            bytes += block[..<count]
        }
        return bytes
    }
}

/// A pipe, whose ends no child process inherits that is started at the same moment.
package enum SystemPipe {
    /// Both ends are the caller's to close.
    package static func open() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var (reading, writing): (Int32, Int32) = (-1, -1)
        let failed = relay_pipe(&reading, &writing)
        if failed != 0 { throw SystemError(failed) }
        return (reading, writing)
    }
}

/// A file descriptor that is closed when this value is released.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor. Use it only while this value lives.
    public let number: Int32
    /// Takes over an open descriptor.
    ///
    /// - Parameter number: the descriptor, which no other code closes.
    public init(_ number: Int32) { self.number = number }
    deinit { close(number) }

    /// Gives up the descriptor, and leaves it open for a new owner.
    ///
    /// - Returns: the descriptor.
    public consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}
