import Glibc
package import RelayCore
package import RelaySystemd
import RelayTool
import Synchronization

/// What a daemon writes about its life: entries of systemd's log, with fields, if stderr is connected to that; else
/// lines on stderr. Never the content of an event or a command.
package struct Log: Sendable {
    package enum Level: Int, CaseIterable, Comparable, Sendable {
        case error, warning, info, debug
        package var name: String { "\(self)" }
        /// syslog's number, which the journal reads from the line's beginning (sd-daemon(3)).
        var priority: Int { [3, 4, 6, 7][rawValue] }
        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }
    /// The least that is written, for all copies of this value.
    private final class Threshold: Sendable {
        let level: Mutex<Level>
        init(_ level: Level) { self.level = Mutex(level) }
    }
    private let threshold: Threshold
    /// Adds time and name itself.
    private let system = SystemLog()

    package init(level: Level) { threshold = Threshold(level) }

    package var level: Level { threshold.level.withLock { $0 } }
    package func setLevel(_ level: Level) { threshold.level.withLock { $0 = level } }

    package func error(_ text: String) { write(.error, text) }
    package func warning(_ text: String) { write(.warning, text) }
    package func info(_ text: String, _ id: SystemLog.MessageID? = nil) { write(.info, text, id) }
    package func debug(_ text: String) { write(.debug, text) }

    /// What a service or a journal reports while it runs.
    package func write(_ notice: Notice) {
        let level: Level = [.info: .info, .warning: .warning, .error: .error][notice.severity] ?? .error
        guard level <= self.level, system?.write(notice) != true else { return }
        writeLine(level, "\(notice.kind.rawValue): \(notice)")
    }

    private func write(_ level: Level, _ text: String, _ id: SystemLog.MessageID? = nil) {
        guard level <= self.level else { return }
        let priority = SystemLog.Priority(rawValue: level.priority) ?? .error
        if system?.write(MessageText.line(text), priority, id: id) != true { writeLine(level, text) }
    }
    private func writeLine(_ level: Level, _ text: String) {
        let safe = MessageText.line(text)
        // What the log did not take as an entry it may still take as a line, with its priority.
        let line = system != nil ? "<\(level.priority)>\(safe)\n" : "\(Self.time()) \(level.name): \(safe)\n"
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
