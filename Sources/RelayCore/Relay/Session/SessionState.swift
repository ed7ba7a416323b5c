/// What a follower knows of the bus and the service.
struct SessionState {
    var connection: BusConnection?
    /// Who has the service's name, and what is held of that one until it is verified.
    var ownership = NameOwner<HeldSignal>(
        countLimit: StreamMachine<StreamSubscriber.HeldEvent>.heldLimit,
        costLimit: StreamMachine<StreamSubscriber.HeldEvent>.heldCostLimit)
    /// The unique name behind the service's, once its requirement is met: the only one that is believed.
    var owner: String? { ownership.verified }
    /// Who has the name, while it is asked whether that one meets the requirement: its signals are held.
    var candidate: String? { ownership.candidate }
    /// Whether the bus has said who owns the name, be it nobody.
    var isResolved: Bool { ownership.isKnown }
    /// Counts owners, so that answers about a former one are dropped.
    var ownerGeneration: Int { ownership.generation }
    /// What the present owner can do beyond what every service does; empty before its first answer to `Attach`.
    var features: Set<StreamFeature> = []
    var streams: [String: FollowedStream] = [:]
    /// The same; few.
    var streamsInOrder: [FollowedStream] = []
    var reads = ReadQueue<StreamSubscriber>()
    var replay = ReplayLine.unused
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
