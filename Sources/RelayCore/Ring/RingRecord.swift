/// What a record says of its event, besides its payload.
package struct RingRecord: Hashable, Sendable {
    /// The event's number in the ring's list.
    package var kind: Int
    package var sequence: UInt64
    /// The sequence of the preceding event of the same name, 0 when there is none.
    package var previous: UInt64
    package var publishedAt: Timestamp

    @inline(__always)
    package init(kind: Int, sequence: UInt64, previous: UInt64, publishedAt: Timestamp) {
        (self.kind, self.sequence, self.previous, self.publishedAt) = (kind, sequence, previous, publishedAt)
    }
}
