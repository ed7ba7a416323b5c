import CRelayShims
import Glibc

/// A ring's descriptor for one peer, which shows whether the peer has got it.
///
/// It is a file description of its own, see open(2): a process that has the descriptor shares its status flags, and no
/// other can set those. So a peer that has got it sets `O_NONBLOCK`, which changes nothing for memory, and cannot be
/// done without it. To set the flag and to look at it takes no lock that a thread can hold asleep; the description's
/// offset would.
package final class RingReceipt: Sendable {
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

    package var isTaken: Bool {
        let flags = fcntl(descriptor, F_GETFL)
        return flags >= 0 && flags & O_NONBLOCK != 0
    }
    /// The peer's word that it has the descriptor. Of memory only: another kind of file may do anything when its flags
    /// change.
    package static func acknowledge(_ descriptor: Int32) {
        guard relay_get_seals(descriptor) >= 0 else { return }
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    }
}
