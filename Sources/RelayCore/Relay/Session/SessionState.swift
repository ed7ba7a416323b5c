/// A session's attempts to reach the bus and its service. Touched by `SessionController` alone.
struct SessionState {
    var backoff: Backoff
    /// The ordered question who has the service's name, and when the last one was sent.
    var inquiryTimer: UInt64?
    var askedAt: UInt64 = 0
    /// Until when the present owner counts as one that was just found.
    var newUntil: UInt64 = 0
    /// What keeps the relay from the bus was reported.
    var hasReportedOutage = false
    /// How often owners have left while they counted so.
    var earlyDepartures = EarlyDepartures()

    init(_ timing: RelayTiming) { backoff = Backoff(timing.reconnect) }
}
