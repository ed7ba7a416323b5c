/// One stream's ring, with who reads it. In a turn of the loop only.
final class FollowedRing: @unchecked Sendable {  // In a turn of the loop only.
    /// An event, and what its payloads are; not counted, since it is looked up for every record: the ring keeps both.
    struct Kind: BitwiseCopyable {
        let event: Unmanaged<FollowedStream.Event>
        let shape: Unmanaged<RingPayloadFormat>
    }
    let watch: RingWatch
    let number: Int
    let epoch: UInt64
    let capacity: UInt64
    /// By the ring's numbers of its events.
    let kinds: ContiguousArray<Kind>
    private let kept: [(event: FollowedStream.Event, shape: RingPayloadFormat)]
    // Exempt from the run-time check of exclusive access, which the turn already grants: it is looked at for every
    // record.
    @exclusivity(unchecked) var reader: RingReader
    /// Was taken, and is not to be handled before something else. Its payload is still the reader's.
    @exclusivity(unchecked) var waiting: (record: RingRecord, isTooLarge: Bool)?
    /// The last that was handled.
    @exclusivity(unchecked) var sequence: UInt64 = 0
    /// Since when it is left alone; nil: it is read.
    @exclusivity(unchecked) var parkedAt: UInt64?
    /// Nothing was read yet.
    @exclusivity(unchecked) var isFresh = true

    /// - Parameter after: the sequence from which it is wanted; nil: what is published from now on.
    init(_ area: RingArea, kinds: [(event: FollowedStream.Event, shape: RingPayloadFormat)], after: UInt64?) {
        reader = RingReader(area, after: after ?? 0, atTail: after == nil)
        watch = RingWatch(area)
        watch.read(to: reader.position)
        (number, epoch) = (area.header.ringIndex, area.header.epoch)
        kept = kinds
        self.kinds = ContiguousArray(
            kinds.map { Kind(event: .passUnretained($0.event), shape: .passUnretained($0.shape)) })
        capacity = UInt64(area.header.capacity)
    }
}

/// What every turn of the ring thread looks at: beside the follower's state, out of which a look would cost more than
/// an event.
final class OpenRings: @unchecked Sendable {  // In a turn of the loop only, which grants exclusive access, too.
    /// Those whose ring is read. Not counted: the follower keeps its streams.
    @exclusivity(unchecked) var streams: ContiguousArray<Unmanaged<FollowedStream>> = []
    @exclusivity(unchecked) var thread: RingThread?
    @exclusivity(unchecked) var holdsReplies = false
    /// Of which owner the wait page is being mapped and sealed, by the owners' count.
    var preparation: Int?
    /// Threads that do so, or that an owner does not let go.
    var preparing = 0
}
