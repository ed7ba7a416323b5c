import Glibc

/// How many lines the reader of `watch` has dealt with: it writes a line back for each.
struct LineConfirmations {
    /// The end of the pipe that lines come back by.
    let descriptor: Int32
    private(set) var count: UInt64 = 0
    /// The reader will confirm nothing more.
    private(set) var hasEnded = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Whether every one of so many lines is confirmed. A reader that confirms more than there are is no trouble.
    func isComplete(_ lines: UInt64) -> Bool { count >= lines }

    /// Takes what is there, without waiting.
    mutating func take() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while !hasEnded {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = Glibc.poll(&poll, 1, 0)
            if ready < 0 && errno == EINTR { continue }
            if ready <= 0 { return }
            let result = read(descriptor, &bytes, bytes.count)
            if result < 0 && errno == EINTR { continue }
            if result < 0 && errno == EAGAIN { return }
            if result <= 0 { return hasEnded = true }
            count += UInt64(bytes[..<result].count { $0 == UInt8(ascii: "\n") })
        }
    }
}
