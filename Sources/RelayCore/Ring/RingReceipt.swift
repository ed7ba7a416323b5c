import Glibc

/// A ring's descriptor for one peer, which shows whether the peer has got it.
///
/// It is a file description of its own, see open(2): who has the descriptor shares its offset, and nobody else can move that. So a
/// peer that has got it moves the offset, which neither reads nor changes anything, and cannot be done without it.
package final class RingReceipt: Sendable {
    /// To be sent; open as long as this value lives.
    package let descriptor: Int32

    /// Throws `.unavailable` when the process has no descriptor left, or no /proc.
    package init(_ ring: RingWriter) throws(RelayError) {
        // Read-only: all that a peer needs, and all that the file's mode allows.
        descriptor = open("/proc/self/fd/\(ring.descriptor)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError(errno)
            throw RelayError(.unavailable, "cannot open a ring once more: \(error)", cause: error)
        }
    }
    deinit { close(descriptor) }

    package var isTaken: Bool { lseek(descriptor, 0, SEEK_CUR) != 0 }
    /// The peer's word that it has the descriptor.
    static func acknowledge(_ descriptor: Int32) { lseek(descriptor, 1, SEEK_SET) }
}
