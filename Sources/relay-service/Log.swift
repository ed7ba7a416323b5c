import Glibc
import RelayCore
import RelayTool
import Synchronization

/// Writes to stderr, one line an event of the service's life. Never the content of an event or a command.
struct Log: Sendable {
    enum Level: Int, CaseIterable, Comparable, Sendable {
        case error, warning, info, debug
        var name: String { "\(self)" }
        /// syslog's number, which the journal reads from the line's beginning (sd-daemon(3)).
        var priority: Int { [3, 4, 6, 7][rawValue] }
        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }
    /// The least that is written, for all copies of this value.
    private final class Threshold: Sendable {
        let level: Mutex<Level>
        init(_ level: Level) { self.level = Mutex(level) }
    }
    private let threshold: Threshold
    /// Whether stderr is the journal, which adds time and name itself.
    let isJournal: Bool

    init(level: Level) {
        threshold = Threshold(level)
        isJournal = Self.stderrIsJournal(getenv("JOURNAL_STREAM").map { String(cString: $0) })
    }
    /// systemd names the device and inode of the stream that it gave.
    private static func stderrIsJournal(_ stream: String?) -> Bool {
        var status = stat()
        guard let stream, fstat(2, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    var level: Level { threshold.level.withLock { $0 } }
    func setLevel(_ level: Level) { threshold.level.withLock { $0 = level } }

    func error(_ text: String) { write(.error, text) }
    func warning(_ text: String) { write(.warning, text) }
    func info(_ text: String) { write(.info, text) }
    func debug(_ text: String) { write(.debug, text) }

    /// What a service or a journal reports while it runs.
    func write(_ notice: Notice) {
        let level: Level = [.info: .info, .warning: .warning, .error: .error][notice.severity] ?? .error
        write(level, "\(notice.kind.rawValue): \(notice)")
    }

    private func write(_ level: Level, _ text: String) {
        guard level <= self.level else { return }
        let safe = MessageText.line(text)
        let line = isJournal ? "<\(level.priority)>\(safe)\n" : "\(Self.time()) \(level.name): \(safe)\n"
        // One call, so that lines of several threads do not mix. A closed stderr is nobody's business.
        var copy = line
        copy.withUTF8 { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }
    private static func time() -> String {
        var now = time_t()
        var parts = tm()
        Glibc.time(&now)
        localtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }
}
