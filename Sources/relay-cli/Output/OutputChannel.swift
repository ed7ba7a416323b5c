import Glibc

/// Writes to a descriptor without ever waiting for it, and without changing its mode, which others share.
struct OutputChannel {
    enum Outcome: Equatable {
        case drained
        /// The reader is slow: poll for room.
        case blocked
        /// Nobody reads any more.
        case closed
        case failed(errno: Int32)
    }
    let descriptor: Int32
    var pending = ByteBuffer()
    private var written = 0
    /// Bytes that were written and are no longer here.
    private var gone: UInt64 = 0

    init(descriptor: Int32) { self.descriptor = descriptor }

    var isEmpty: Bool { pending.count == written }
    var waitingBytes: Int { pending.count - written }
    /// Bytes that the descriptor has taken so far.
    var taken: UInt64 { gone + UInt64(written) }
    /// Bytes that were composed so far.
    var composed: UInt64 { gone + UInt64(pending.count) }
    /// Lines among the bytes that `countLines` has seen.
    private(set) var lines: UInt64 = 0
    /// Lines that the descriptor has taken to their ends.
    private(set) var takenLines: UInt64 = 0
    private var counted: UInt64 = 0

    /// Brings `lines` up to date. To be called before each `write`, which forgets bytes.
    mutating func countLines() {
        let start = Int(max(counted, gone) - gone)
        lines += UInt64(pending.bytes[start...].count { $0 == UInt8(ascii: "\n") })
        counted = composed
    }

    /// Writes what the descriptor takes at once.
    mutating func write() -> Outcome {
        while written < pending.count {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let count = Glibc.poll(&poll, 1, 0)
            if count < 0 && errno == EINTR { continue }
            if poll.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return .closed }
            if poll.revents & Int16(POLLOUT) == 0 { return .blocked }
            let end = chunkEnd()
            let result = pending.bytes.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), end - written)
            }
            if result >= 0 {
                takenLines += UInt64(pending.bytes[written..<written + result].count { $0 == UInt8(ascii: "\n") })
                written += result
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .blocked
            case EPIPE, EBADF: return .closed
            default: return .failed(errno: errno)
            }
        }
        gone += UInt64(written)
        pending.removeAll()
        written = 0
        return .drained
    }

    /// Writes everything, waiting for a reader that is slow. Returns whether there still is one.
    mutating func drain() throws(CLIFailure) -> Bool {
        while true {
            switch write() {
            case .drained: return true
            case .closed: return false
            case .failed(let number): throw CLIFailure.cannotWrite(errno: number)
            case .blocked:
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, -1)
            }
        }
    }

    /// A pipe that has room takes PIPE_BUF bytes without waiting, and does not part them. Whole lines, where they fit:
    /// others may write to the same pipe.
    private func chunkEnd() -> Int {
        let limit = written + 4_096
        if pending.count <= limit { return pending.count }
        let newline = pending.bytes[written..<limit].lastIndex(of: UInt8(ascii: "\n"))
        return newline.map { $0 + 1 } ?? limit
    }
}
