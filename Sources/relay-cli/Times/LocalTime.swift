import Glibc
import RelayCore

/// What time it is, and what the clocks on the walls show.
struct LocalTime: Sendable {
    let now: Timestamp
    /// Seconds to add to UTC at a time.
    let offset: @Sendable (_ seconds: Int64) -> Int64

    /// When it was, or will be, this late here: seconds since the Unix epoch, from seconds of a calendar that knows no zones.
    ///
    /// Of an hour that comes twice, as summer ends, the first one; an hour that is left out, as summer begins, goes on behind
    /// the change.
    func utc(_ local: Int64) -> Int64 {
        let (before, after) = (offset(local - 86_400), offset(local + 86_400))
        let candidates = [local - max(before, after), local - min(before, after)]
        return candidates.first { $0 + offset($0) == local } ?? local - before
    }
    /// Days since 1970-01-01, here.
    var today: Int64 {
        let seconds = Int64(now.microseconds / 1_000_000)  // At most 1.8e13.
        return (seconds + offset(seconds)) / 86_400
    }
}

extension LocalTime {
    /// By the system's clock and time zone.
    static func ofProcess() -> LocalTime { LocalTime(now: .now) { systemOffset($0) } }

    /// By TZ and the system's time zone, as the C library knows them.
    static func systemOffset(_ seconds: Int64) -> Int64 {
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }
}
