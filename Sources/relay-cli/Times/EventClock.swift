import RelayTool

/// Writes times: the hour of the day here for people, UTC with all its digits for programs.
struct EventClock {
    /// Seconds to add to UTC at a time; asked once a second at most, as the C library takes a lock for it.
    private let offset: (_ seconds: Int64) -> Int64
    private var known: (seconds: Int64, offset: Int64, isDated: Bool)?
    private let dates: Dates

    /// When the date stands before the time of the day.
    enum Dates {
        case never, always
        /// Of the times that are not today's, by a clock in microseconds since the Unix epoch.
        case ofOtherDays(now: () -> UInt64)
    }

    init(dates: Dates = .never, offset: @escaping (_ seconds: Int64) -> Int64) {
        (self.dates, self.offset) = (dates, offset)
    }

    /// As `append(timeOfDay:)`, with the date in front where it belongs: `2026-11-20 09:15:04.123`.
    mutating func append(time microseconds: UInt64, to output: inout ByteBuffer) {
        let local = local(microseconds)
        if local.isDated {
            Self.append(day: local.seconds, to: &output)
            output.append(byte: UInt8(ascii: " "))
        }
        append(timeOfDay: microseconds, to: &output)
    }
    private mutating func local(_ microseconds: UInt64) -> (seconds: Int64, isDated: Bool) {
        let seconds = Int64(microseconds / 1_000_000)  // At most 1.8e13.
        if let known, known.seconds == seconds { return (seconds + known.offset, known.isDated) }
        let offset = offset(seconds)
        let isDated =
            switch dates {
            case .never: false
            case .always: true
            case .ofOtherDays(let now):
                Self.day(seconds + offset) != Self.day(Int64(now() / 1_000_000) + offset)
            }
        known = (seconds, offset, isDated)
        return (seconds + offset, isDated)
    }
    private static func day(_ seconds: Int64) -> Int64 { seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400 }
    private static func append(day seconds: Int64, to output: inout ByteBuffer) {
        let date = GregorianDate(daysSince1970: day(seconds))
        // The zone can make 1969 of what is after 1970, and nothing earlier.
        output.append(decimal: UInt64(max(0, date.year)), width: 4)
        output.append(byte: UInt8(ascii: "-"))
        output.append(decimal: UInt64(date.month), width: 2)
        output.append(byte: UInt8(ascii: "-"))
        output.append(decimal: UInt64(date.day), width: 2)
    }

    /// `09:15:04.123`
    mutating func append(timeOfDay microseconds: UInt64, to output: inout ByteBuffer) {
        let local = local(microseconds).seconds
        let ofDay = UInt64(((local % 86_400) + 86_400) % 86_400)
        Self.append(ofDay: ofDay, to: &output)
        output.append(byte: UInt8(ascii: "."))
        output.append(decimal: microseconds / 1_000 % 1_000, width: 3)
    }

    /// `2026-11-20T09:15:04.123456Z`. The year has as many digits as it takes.
    static func append(timestamp microseconds: UInt64, to output: inout ByteBuffer) {
        let seconds = microseconds / 1_000_000
        append(day: Int64(seconds), to: &output)
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
}

extension EventClock {
    /// By TZ and the system's time zone.
    static func local(dates: Dates = .never) -> EventClock { EventClock(dates: dates, offset: LocalTime.systemOffset) }
}
