import Synchronization

/// The status that was sent last: the same one is not sent again.
final class StatusLine: Sendable {
    private let last: Mutex<String>
    init(_ line: String) { last = Mutex(line) }
    /// Returns the line to send; nil if it is the last one.
    func change(to line: String) -> String? {
        last.withLock { last in
            if last == line { return nil }
            last = line
            return line
        }
    }
}
