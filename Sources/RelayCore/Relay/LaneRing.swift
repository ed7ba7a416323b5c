/// One lane's ring, with who reads it. In a turn of the loop only.
final class LaneRing: @unchecked Sendable {  // In a turn of the loop only.
    struct Kind {
        let event: FollowedLane.Event
        let shape: RingShape
    }
    let watch: RingWatch
    let number: Int
    let epoch: UInt64
    let capacity: UInt64
    /// By the ring's numbers of its events.
    let kinds: ContiguousArray<Kind>
    // Exempt from the run-time check of exclusive access, which the turn already grants: it is looked at for every record.
    @exclusivity(unchecked) var reader: RingReader
    /// Was taken, and is not to be handled before something else. Its payload is still the reader's.
    var waiting: (record: RingRecord, isTooLarge: Bool)?
    /// The last that was handled.
    @exclusivity(unchecked) var sequence: UInt64 = 0
    /// Since when it is left alone; nil: it is read.
    var parkedAt: UInt64?
    /// Nothing was read yet.
    @exclusivity(unchecked) var isFresh = true

    /// - Parameter after: the sequence from which it is wanted; nil: what is published from now on.
    init(_ area: RingArea, kinds: ContiguousArray<Kind>, after: UInt64?) {
        reader = RingReader(area, after: after ?? 0, atTail: after == nil)
        watch = RingWatch(area)
        watch.read(to: reader.position)
        (number, epoch, self.kinds) = (area.header.lane, area.header.epoch, kinds)
        capacity = UInt64(area.header.capacity)
    }
}
