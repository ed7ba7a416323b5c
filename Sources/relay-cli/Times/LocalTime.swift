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

/// A day of the Gregorian calendar, as the C library has it.
struct GregorianDate: Equatable, Sendable {
    let year: Int64
    let month: Int64
    let day: Int64

    /// nil where the calendar has no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
        // The C library goes on from the 31st of a month of 30 days to the next month.
        guard Int32(exactly: year) != nil, (1...12).contains(month), (1...31).contains(day),
            GregorianDate(daysSince1970: daysSince1970) == self
        else { return nil }
    }
    init(daysSince1970 days: Int64) {
        var time = time_t(days * 86_400)  // Days are at most 2.2e8.
        var parts = tm()
        gmtime_r(&time, &parts)
        (year, month, day) = (Int64(parts.tm_year) + 1_900, Int64(parts.tm_mon) + 1, Int64(parts.tm_mday))
    }

    var daysSince1970: Int64 {
        var parts = tm()
        // Fits: a year comes from four digits, or from a time.
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(clamping: year - 1_900), Int32(month) - 1, Int32(day))
        let seconds = Int64(timegm(&parts))
        return seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
    }
}
