import Glibc

/// Where an event stands in its interface's order.
///
/// Events of a relay have the stamp of the wire. A local publisher stamps by itself: its epoch is random, and one sequence
/// counts its events of all types.
public struct Stamp: Hashable, Sendable {
    /// Which run of the publisher the sequence belongs to.
    public let epoch: UInt64
    /// The event's place in the interface's one sequence, from 1.
    public let sequence: UInt64
    /// The sequence of the preceding event of the same name, 0 when there is none.
    public let previous: UInt64
    /// When it was published.
    public let publishedAt: Timestamp

    /// For doubles and previews: real stamps come from the service.
    public init(epoch: UInt64, sequence: UInt64, previous: UInt64, publishedAt: Timestamp) {
        (self.epoch, self.sequence, self.previous, self.publishedAt) = (epoch, sequence, previous, publishedAt)
    }

    /// The same in another run: signals do not carry theirs.
    package func inEpoch(_ epoch: UInt64) -> Stamp {
        Stamp(epoch: epoch, sequence: sequence, previous: previous, publishedAt: publishedAt)
    }
}

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
