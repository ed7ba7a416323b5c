import Glibc

/// How many lines the reader of `watch` has dealt with: it writes a line back for each.
struct LineConfirmations {
    /// The end of the pipe that lines come back by.
    let descriptor: Int32
    private(set) var count: UInt64 = 0
    /// The reader will confirm nothing more.
    private(set) var hasEnded = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Whether every one of so many lines is confirmed.
    func isComplete(_ lines: UInt64) -> Bool { count >= lines }

    /// Reads at most so often at once, 4 KiB each: as much as a pipe can hold.
    private static let mostReads = 256

    /// Takes what is there, without waiting, and without following a reader that writes without end: a signal must be
    /// heard meanwhile.
    ///
    /// - Parameter lines: how many the reader can have read by now. What is confirmed beyond them counts for none that comes
    ///   later: its event would be lost if the reader were killed before it has dealt with it.
    mutating func take(of lines: UInt64) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<Self.mostReads where !hasEnded {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = Glibc.poll(&poll, 1, 0)
            if ready < 0 && errno == EINTR { continue }
            if ready <= 0 { return }
            let result = read(descriptor, &bytes, bytes.count)
            if result < 0 && errno == EINTR { continue }
            if result < 0 && errno == EAGAIN { return }
            if result <= 0 { return hasEnded = true }
            let confirmed = UInt64(bytes[..<result].count { $0 == UInt8(ascii: "\n") })
            count = max(count, min(count + confirmed, lines))
        }
    }
}
