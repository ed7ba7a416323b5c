/// The place of an event in its stream.
///
/// An event that arrives through a relay has the service's stamp. A local publisher stamps its own events, with a
/// random epoch and one sequence for all types.
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
    @inlinable package func inEpoch(_ epoch: UInt64) -> Stamp {
        Stamp(epoch: epoch, sequence: sequence, previous: previous, publishedAt: publishedAt)
    }
}
