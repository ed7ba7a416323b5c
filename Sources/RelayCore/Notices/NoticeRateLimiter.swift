/// Which notices are reported and which are only counted, as a value.
///
/// Of each kind the first `burst` of a minute are reported. The rest are counted; when the minute is over, the first of them is
/// reported with the number of the others. While a kind keeps coming, there is one a minute. Times are nanoseconds of a monotonic
/// clock.
struct NoticeRateLimiter {
    static let burst = 5
    static let interval: UInt64 = 60_000_000_000

    private struct Window {
        let end: UInt64
        var reported: Int
        /// The first that was left out.
        var first: Notice?
        var suppressed = 0
    }
    /// A kind that was quiet for a whole interval is forgotten.
    private var windows: [Notice.Kind: Window] = [:]

    /// When `due` has something to report; nil if nothing was left out.
    var nextDue: UInt64? { windows.values.lazy.filter { $0.suppressed > 0 }.map(\.end).min() }

    /// The notice, if it is to be reported now.
    ///
    /// - Parameter message: is evaluated only if it can be reported at all, now or later.
    mutating func admit(
        _ kind: Notice.Kind, _ severity: Notice.Severity, _ message: () -> String, now: UInt64
    ) -> Notice? {
        var window = windows[kind] ?? Window(end: now + Self.interval, reported: 0)
        if window.end <= now && window.suppressed == 0 { window = Window(end: now + Self.interval, reported: 0) }
        defer { windows[kind] = window }
        if window.reported < Self.burst {
            window.reported += 1
            return Notice(kind, severity, message())
        }
        if window.first == nil { window.first = Notice(kind, severity, message()) }
        window.suppressed += 1
        return nil
    }
    /// Takes what was left out in the intervals that are over by `now`, by kind.
    mutating func due(now: UInt64) -> [Notice] {
        var notices: [Notice] = []
        for (kind, window) in windows.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where window.end <= now {
            guard let notice = Self.summary(window) else {
                windows[kind] = nil
                continue
            }
            notices.append(notice)
            // It did not stop: from here on one a minute.
            windows[kind] = Window(end: now + Self.interval, reported: Self.burst)
        }
        return notices
    }
    /// Takes all that was left out, at the end.
    mutating func finish() -> [Notice] {
        defer { windows = [:] }
        return windows.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { Self.summary($0.value) }
    }
    private static func summary(_ window: Window) -> Notice? {
        window.first.map { Notice($0.kind, $0.severity, $0.message, suppressed: window.suppressed - 1) }
    }
}
