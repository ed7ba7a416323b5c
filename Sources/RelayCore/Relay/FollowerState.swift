/// What a follower knows of the bus and the service.
struct FollowerState {
    var connection: BusConnection?
    /// The unique name behind the service's, once its requirement is met: the only one that is believed.
    var owner: String?
    /// Who has the name, while it is asked whether that one meets the requirement: its events are held.
    var candidate: String?
    /// Whether the bus has said who owns the name, be it nobody.
    var isResolved = false
    /// Counts owners, so that answers about a former one are dropped.
    var ownerGeneration = 0
    /// What the present owner can do beyond what every service does; empty before its first answer to `Attach`.
    var features: Set<StreamFeature> = []
    var lanes: [String: FollowedLane] = [:]
    /// The same; few.
    var lanesInOrder: [FollowedLane] = []
    var reads = ReadQueue<LaneMember>()
    var pages = PageReader()
    var told = EventRelay.State.connecting
    var wasActive = false
    var isActivated = false
    var isInvalidated = false
    var backoff = Backoff()
    var waiting = WaitingCalls()
    /// In the order in which they came.
    var heldReplies: [HeldReply] = []
    /// Why no call can be made any more.
    var failure: RelayError?
}
