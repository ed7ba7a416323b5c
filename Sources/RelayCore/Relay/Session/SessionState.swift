/// What a follower knows of the bus and the service.
struct SessionState {
    var connection: BusConnection?
    /// Who owns the service's name, and what is held of that one until it is verified.
    var session = ServiceSession<HeldSignal>(
        countLimit: StreamMachine<StreamSubscriber.HeldEvent>.heldLimit,
        costLimit: StreamMachine<StreamSubscriber.HeldEvent>.heldCostLimit)
    /// The verified owner's unique name: the only one that counts.
    var owner: String? { session.owner }
    /// What the present owner can do beyond what every service does; empty before its first answer to `Attach`.
    var features: Set<StreamFeature> = []
    var streams: [String: FollowedStream] = [:]
    /// The same; few.
    var streamsInOrder: [FollowedStream] = []
    var reads = ReadQueue<StreamSubscriber>()
    var replay = ReplayLine.unused
    var pages = PageReader()
    var backoff = Backoff()
    var waiting = WaitingCalls()
    /// In the order in which they came.
    var heldReplies: [HeldReply] = []
    /// Why no call can be made any more.
    var failure: RelayError?
}

/// A signal of an owner that is not verified yet, copied out of its message.
struct HeldSignal {
    let stream: FollowedStream
    /// Not one of `Stream1`.
    let isEvent: Bool
    let member: String
    let signature: [UInt8]
    let body: [UInt8]
}
