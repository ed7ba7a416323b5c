import Glibc

/// A time in microseconds since the Unix epoch, as on the wire.
///
/// ```swift
/// let yesterday = Timestamp.now - .seconds(86_400)
/// print("\(yesterday)")  // 2026-11-21T09:30:00.000000Z
/// ```
///
/// Its arithmetic never traps: a result beyond either end of the range becomes that end. `RelayFoundation` converts to and from `Date`. A timestamp can be a field of a fixed-layout event.
public struct Timestamp: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let microseconds: UInt64
    /// A time.
    ///
    /// - Parameter microseconds: microseconds since 1970-01-01T00:00:00Z.
    public init(microseconds: UInt64) { self.microseconds = microseconds }

    /// The present time by the system's clock, which can be set back.
    public static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self(microseconds: UInt64(max(0, time.tv_sec)) &* 1_000_000 &+ UInt64(max(0, time.tv_nsec)) / 1_000)
    }
    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
}

extension Timestamp {
    /// The time after adding a duration, which may be negative. Parts of a microsecond are dropped.
    ///
    /// - Parameter duration: how much later.
    /// - Returns: the time; nil if it is before the Unix epoch or does not fit into 64 bits.
    package func adding(_ duration: Duration) -> Self? { UInt64(exactly: wide(duration)).map(Self.init(microseconds:)) }
    /// The time after adding a duration, bounded by the Unix epoch and by 64 bits.
    public static func + (time: Self, duration: Duration) -> Self {
        Self(microseconds: UInt64(clamping: time.wide(duration)))
    }
    /// The time after subtracting a duration, bounded by the Unix epoch and by 64 bits.
    public static func - (time: Self, duration: Duration) -> Self {
        Self(microseconds: UInt64(clamping: Int128(time.microseconds) - microseconds(of: duration)))
    }
    /// The duration from the second time to the first; negative if the first is earlier.
    public static func - (later: Self, earlier: Self) -> Duration {
        let (seconds, rest) = (Int128(later.microseconds) - Int128(earlier.microseconds))
            .quotientAndRemainder(dividingBy: 1_000_000)
        // At most 2^64 microseconds: far within a Duration.
        return Duration(
            secondsComponent: Int64(clamping: seconds), attosecondsComponent: Int64(clamping: rest) * 1_000_000_000_000)
    }

    private func wide(_ duration: Duration) -> Int128 { Int128(microseconds) + Self.microseconds(of: duration) }
    /// 128 bits hold any sum of a UInt64 and a duration in microseconds.
    private static func microseconds(of duration: Duration) -> Int128 {
        let (seconds, attoseconds) = duration.components
        return Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time in ISO 8601, in UTC, with six digits after the second: `2026-11-22T09:30:00.000000Z`. From the year
    /// 10,000 on, it begins with a `+`.
    public var description: String {
        let (seconds, micros) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let date = Self.date(Int64(days))
        let year = date.year > 9_999 ? "+\(date.year)" : Self.digits(date.year, 4)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { Self.digits(Int64($0), 2) }
        return "\(year)-\(Self.digits(date.month, 2))-\(Self.digits(date.day, 2))T\(clock.joined(separator: ":"))"
            + ".\(Self.digits(Int64(micros), 6))Z"
    }
    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    /// The day of the proleptic Gregorian calendar. (Howard Hinnant's `civil_from_days`: years that begin in March, in
    /// eras of 400, so that the leap day is a year's last.)
    private static func date(_ sinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = sinceEpoch + 719_468
        let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

/// One number, also on the wire: a field of this type has the signature `t`, as a stamp's time has.
extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(UInt64.self))
    }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}
