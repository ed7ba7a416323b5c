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
