/// What a session knows of the bus and the service. Touched by `SessionController` alone.
struct SessionState {
    var connection: BusConnection?
    /// The service's owner, and what is held of it until it is verified.
    var session = ServiceSession<HeldSignal>(
        countLimit: StreamSubscriber.Machine.heldLimit,
        costLimit: StreamSubscriber.Machine.heldCostLimit)
    /// What the present owner can do beyond what every service does; empty before its first answer to `Attach`.
    var features: Set<StreamFeature> = []
    var streams: [String: StreamController] = [:]
    /// The same; few.
    var streamsInOrder: [StreamController] = []
    var backoff: Backoff
    /// The ordered question who has the service's name, and when the last one was sent.
    var inquiryTimer: UInt64?
    var askedAt: UInt64 = 0
    /// Until when the present owner counts as one that was just found.
    var newUntil: UInt64 = 0
    /// What keeps it from the bus was reported, and what keeps it from rings and replays.
    var (hasReportedOutage, hasReportedLack) = (false, false)
    /// How often owners have left while they counted so.
    var earlyDepartures = EarlyDepartures()

    init(_ timing: RelayTiming) { backoff = Backoff(timing.reconnect) }
}

/// A signal of an owner that is not verified yet, copied out of its message.
struct HeldSignal {
    let stream: StreamController
    /// Not one of `Stream1`.
    let isEvent: Bool
    let member: String
    let signature: [UInt8]
    let body: [UInt8]
}
