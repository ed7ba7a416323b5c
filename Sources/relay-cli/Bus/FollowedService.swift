/// A service on a bus, for as long as this exists.
protocol FollowedService: ServiceCaller {
    /// Connects, and goes on doing so.
    func activate()
    /// Says which events are wanted, in place of what was said before. Returns when all that is published from then on will
    /// be seen, or when the service does not answer.
    func follow(_ selection: EventSelection) async
    /// Nothing comes any more.
    func invalidate()
}
