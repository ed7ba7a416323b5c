import Glibc
import RelayTool

/// Writes to a descriptor without ever waiting for it, and without changing its mode, which others share. What goes to a
/// terminal passes its door.
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
    private let isTerminal: Bool
    /// Composed, and not yet written.
    var pending = ByteBuffer()
    private var written = 0
    /// Bytes that were written and are no longer here.
    private var gone: UInt64 = 0

    /// What the terminal is given for the bytes up to an end: all of it, before they count as written.
    private var shown: (bytes: ArraySlice<UInt8>, end: Int)?

    /// - Parameter isTerminal: whether it shows what is written to a person.
    init(descriptor: Int32, isTerminal: Bool) { (self.descriptor, self.isTerminal) = (descriptor, isTerminal) }

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
            if poll.revents & Int16(POLLNVAL) != 0 { return .failed(errno: EBADF) }
            if poll.revents & Int16(POLLERR | POLLHUP) != 0 { return .closed }
            if poll.revents & Int16(POLLOUT) == 0 { return .blocked }
            let result = isTerminal ? writeShown() : writePending()
            if result >= 0 { continue }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .blocked
            case EPIPE: return .closed
            default: return .failed(errno: errno)
            }
        }
        gone += UInt64(written)
        pending.removeAll()
        written = 0
        return .drained
    }

    private mutating func writePending() -> Int {
        let end = chunkEnd()
        let result = pending.bytes.withUnsafeBytes { bytes in
            Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), end - written)
        }
        if result > 0 { take(through: written + result) }
        return result
    }
    private mutating func writeShown() -> Int {
        let end = shown?.end ?? chunkEnd()
        let bytes = shown?.bytes ?? TerminalDoor.visible(pending.bytes[written..<end])[...]
        // What is shown is longer than what it stands for, and more than this might have to wait.
        let result = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, min($0.count, Self.atOnce)) }
        let rest = bytes.dropFirst(max(0, result))
        shown = rest.isEmpty ? nil : (rest, end)
        if rest.isEmpty { take(through: end) }
        return result
    }
    private mutating func take(through end: Int) {
        takenLines += UInt64(pending.bytes[written..<end].count { $0 == UInt8(ascii: "\n") })
        written = end
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

    /// PIPE_BUF, in bytes.
    private static let atOnce = 4_096
    /// A pipe that has room takes PIPE_BUF bytes without waiting, and does not part them. Whole lines, where they fit:
    /// others may write to the same pipe.
    private func chunkEnd() -> Int {
        let limit = written + Self.atOnce
        if pending.count <= limit { return pending.count }
        let chunk = pending.bytes[written..<limit]
        if let newline = chunk.lastIndex(of: UInt8(ascii: "\n")) { return newline + 1 }
        // The door is given whole characters: one that begins at the chunk's end is left for the next.
        let start = isTerminal ? chunk.lastIndex { !(0x80..<0xC0).contains($0) && $0 != 0x0D } : nil
        return start.flatMap { $0 > written ? $0 : nil } ?? limit
    }
}
