import Glibc

/// A ring's descriptor for one peer: a file description of its own, see open(2), whose flags and offset no other peer
/// shares.
package final class RingShare: Sendable {
    /// To be sent; open as long as this value lives.
    package let descriptor: Int32

    /// Throws `.unavailable` when the process has no descriptor left, or no /proc; with `EACCES` as its cause when
    /// another process of this user has taken the file's mode away.
    package init(_ ring: RingWriter) throws(RelayError) {
        // Read-only: all that a peer needs, and all that the file's mode allows.
        descriptor = open("/proc/self/fd/\(ring.descriptor)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError(errno)
            throw RelayError(.unavailable, "cannot open a ring once more: \(error)", cause: error)
        }
    }
    deinit { close(descriptor) }
}
