import RelayCore

/// Events that are taken one after the other, at the taker's own pace.
protocol PulledEvents: Sendable {
    /// nil: none now, or none any more.
    func next() -> FollowedDelivery?
    /// Everything up to this one was written out.
    func acknowledge(_ delivery: FollowedDelivery)
    /// The end; what was acknowledged is kept.
    func cancel()
}

extension EnvelopeSubscription: PulledEvents {}

/// A service on a bus, for as long as this exists.
protocol FollowedService: ServiceCaller {
    /// Connects, and goes on doing so.
    func activate()
    /// Says which events are wanted, in place of what was said before. Returns when all that is published from then on will
    /// be seen, or when the service does not answer.
    func follow(_ selection: EventSelection) async
    /// Begins to take an interface's events from a place in its journal. nil stands for every event. `onNews` is called on
    /// any thread when there is something to take, after there was nothing; it must not wait.
    ///
    /// Throws `.timedOut` for a cursor that is in use, and what is wrong with one.
    func subscribe(
        interface: String, names: Set<String>?, from start: StreamPosition, onNews: @escaping @Sendable () -> Void
    ) throws(CLIFailure) -> any PulledEvents
    /// Nothing comes any more.
    func invalidate()
}
