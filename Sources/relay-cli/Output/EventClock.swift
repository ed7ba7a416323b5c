import Glibc

/// Writes times: the hour of the day here for people, UTC with all its digits for programs.
struct EventClock {
    /// Seconds to add to UTC at a time; asked once a second at most, as the C library takes a lock for it.
    private let offset: (_ seconds: Int64) -> Int64
    private var known: (seconds: Int64, offset: Int64)?

    init(offset: @escaping (_ seconds: Int64) -> Int64) { self.offset = offset }

    /// `09:15:04.123`
    mutating func append(timeOfDay microseconds: UInt64, to output: inout ByteBuffer) {
        let seconds = Int64(microseconds / 1_000_000)  // At most 1.8e13.
        if known?.seconds != seconds { known = (seconds, offset(seconds)) }
        let local = seconds + (known?.offset ?? 0)
        let ofDay = UInt64(((local % 86_400) + 86_400) % 86_400)
        Self.append(ofDay: ofDay, to: &output)
        output.append(byte: UInt8(ascii: "."))
        output.append(decimal: microseconds / 1_000 % 1_000, width: 3)
    }

    /// `2026-11-20T09:15:04.123456Z`. The year has as many digits as it takes.
    static func append(timestamp microseconds: UInt64, to output: inout ByteBuffer) {
        let seconds = microseconds / 1_000_000
        let date = date(daysSince1970: seconds / 86_400)
        output.append(decimal: date.year, width: 4)
        output.append(byte: UInt8(ascii: "-"))
        output.append(decimal: date.month, width: 2)
        output.append(byte: UInt8(ascii: "-"))
        output.append(decimal: date.day, width: 2)
        output.append(byte: UInt8(ascii: "T"))
        append(ofDay: seconds % 86_400, to: &output)
        output.append(byte: UInt8(ascii: "."))
        output.append(decimal: microseconds % 1_000_000, width: 6)
        output.append(byte: UInt8(ascii: "Z"))
    }

    private static func append(ofDay seconds: UInt64, to output: inout ByteBuffer) {
        output.append(decimal: seconds / 3_600, width: 2)
        output.append(byte: UInt8(ascii: ":"))
        output.append(decimal: seconds / 60 % 60, width: 2)
        output.append(byte: UInt8(ascii: ":"))
        output.append(decimal: seconds % 60, width: 2)
    }

    /// The Gregorian calendar, counted in eras of 400 years that begin in March, so that leap days come last.
    private static func date(daysSince1970 days: UInt64) -> (year: UInt64, month: UInt64, day: UInt64) {
        let shifted = days + 719_468  // Days since 0000-03-01.
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }
}

extension EventClock {
    /// By TZ and the system's time zone, as the C library knows them.
    static func local() -> EventClock {
        EventClock { seconds in
            var time = time_t(seconds)
            var parts = tm()
            guard localtime_r(&time, &parts) != nil else { return 0 }
            return Int64(parts.tm_gmtoff)
        }
    }
}
