/// What every turn of the ring thread looks at: beside the follower's state, out of which a look would cost more than an event.
final class FollowedRings: @unchecked Sendable {  // In a turn of the loop only, which grants exclusive access, too.
    /// Those whose ring is read. Not counted: the follower keeps its lanes.
    @exclusivity(unchecked) var lanes: ContiguousArray<Unmanaged<FollowedLane>> = []
    @exclusivity(unchecked) var thread: RingThread?
    @exclusivity(unchecked) var holdsReplies = false
    /// Of which owner the wait page is being mapped and sealed, by the owners' count.
    var preparation: Int?
    /// Threads that do so, or that an owner does not let go.
    var preparing = 0
}
