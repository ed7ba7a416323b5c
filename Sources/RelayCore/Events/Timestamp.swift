import Glibc

/// Microseconds since the Unix epoch, as on the wire.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    public let microseconds: UInt64
    public init(microseconds: UInt64) { self.microseconds = microseconds }

    /// The system's clock: it can be set back.
    public static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self(microseconds: UInt64(max(0, time.tv_sec)) &* 1_000_000 &+ UInt64(max(0, time.tv_nsec)) / 1_000)
    }
    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
    /// A time that much earlier; bounded by the Unix epoch and by what 64 bits hold.
    public static func - (time: Self, duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        // 128 bits hold any difference of a UInt64 and a duration in microseconds.
        let delta = Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        return Self(microseconds: UInt64(clamping: Int128(time.microseconds) - delta))
    }
}
