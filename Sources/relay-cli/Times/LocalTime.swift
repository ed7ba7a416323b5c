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

/// A day of the Gregorian calendar.
struct GregorianDate: Equatable, Sendable {
    let year: Int64
    let month: Int64
    let day: Int64

    /// nil where the calendar has no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }
    /// Counted in eras of 400 years that begin in March, so that leap days come last.
    init(daysSince1970 days: Int64) {
        let shifted = days + Self.daysBefore1970
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        day = ofYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - Self.daysBefore1970
    }

    /// From 0000-03-01 on.
    private static let daysBefore1970: Int64 = 719_468

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
