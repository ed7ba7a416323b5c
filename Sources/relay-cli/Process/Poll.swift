import Glibc

/// Waits for descriptors and for a time, all at once.
enum Poll {
    /// Returns when one of them is as it was asked for, or when the time has come; a signal may end it before.
    ///
    /// - Parameter end: nil: without end.
    static func wait(_ polls: inout [pollfd], until end: ContinuousClock.Instant?) {
        _ = poll(&polls, nfds_t(polls.count), milliseconds(until: end))
    }
    /// For poll(2), rounded up; -1: without end.
    static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
        guard let end else { return -1 }
        let rest = end - .now
        if rest <= .zero { return 0 }
        let (seconds, attoseconds) = rest.components
        return Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}

extension pollfd {
    /// A descriptor of which something is to be read.
    ///
    /// - Parameter descriptor: -1: none.
    static func reading(_ descriptor: Int32) -> pollfd { pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) }
    /// A descriptor that is written to. Without room asked for, the end of its reader is still reported.
    static func writing(_ descriptor: Int32, forRoom: Bool) -> pollfd {
        pollfd(fd: descriptor, events: forRoom ? Int16(POLLOUT) : 0, revents: 0)
    }
    /// Whether a reader or writer at the other end is gone, or the descriptor is.
    var isOver: Bool { revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 }
}

extension Duration {
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
