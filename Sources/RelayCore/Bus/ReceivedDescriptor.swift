import Glibc

/// A file descriptor that came with a message, or goes with one: this process's own, closed when this value goes.
package final class ReceivedDescriptor: Sendable {
    package let number: Int32
    package init(_ number: Int32) { self.number = number }
    deinit { close(number) }
}
