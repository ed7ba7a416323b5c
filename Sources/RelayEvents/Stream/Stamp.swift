import Glibc

/// The place of an event in its stream.
///
/// Events of a relay carry the stamp of the wire. A local publisher stamps its events itself: with a random epoch, and
/// one sequence for all types.
public struct Stamp: Hashable, Sendable {
    /// The run that the sequence belongs to.
    public let epoch: UInt64
    /// The event's number in the stream, from 1.
    public let sequence: UInt64
    /// The sequence of the preceding event of the same name; 0 if there was none.
    public let previous: UInt64
    /// When the event was published.
    public let publishedAt: Timestamp

    /// A stamp for tests and previews. Real stamps come from the service.
    ///
    /// - Parameter epoch: the run.
    /// - Parameter sequence: the event's number.
    /// - Parameter previous: the number of the preceding event of the same name.
    /// - Parameter publishedAt: the time of publication.
    public init(epoch: UInt64, sequence: UInt64, previous: UInt64, publishedAt: Timestamp) {
        (self.epoch, self.sequence, self.previous, self.publishedAt) = (epoch, sequence, previous, publishedAt)
    }

    /// The same in another run: signals do not carry theirs.
    package func inEpoch(_ epoch: UInt64) -> Stamp {
        Stamp(epoch: epoch, sequence: sequence, previous: previous, publishedAt: publishedAt)
    }
}

/// A time in microseconds since the Unix epoch, as on the wire.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    public let microseconds: UInt64
    /// A time.
    ///
    /// - Parameter microseconds: since 1970-01-01T00:00:00Z.
    public init(microseconds: UInt64) { self.microseconds = microseconds }

    /// The system's clock, which can be set back.
    public static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self(microseconds: UInt64(max(0, time.tv_sec)) &* 1_000_000 &+ UInt64(max(0, time.tv_nsec)) / 1_000)
    }
    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
    /// The time that much earlier, bounded by the Unix epoch and by 64 bits.
    public static func - (time: Self, duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        // 128 bits hold any difference of a UInt64 and a duration in microseconds.
        let delta = Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        return Self(microseconds: UInt64(clamping: Int128(time.microseconds) - delta))
    }
}
