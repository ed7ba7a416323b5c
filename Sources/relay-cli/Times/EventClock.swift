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
        let date = GregorianDate(daysSince1970: Int64(seconds / 86_400))  // At most 2.2e8, and nothing below 1.
        output.append(decimal: UInt64(date.year), width: 4)
        output.append(byte: UInt8(ascii: "-"))
        output.append(decimal: UInt64(date.month), width: 2)
        output.append(byte: UInt8(ascii: "-"))
        output.append(decimal: UInt64(date.day), width: 2)
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
    static func local() -> EventClock { EventClock(offset: LocalTime.systemOffset) }
}
