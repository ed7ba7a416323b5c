/// What an `EventStream` takes from, when it is not a publisher's buffer.
protocol PulledDeliveries<Payload>: SubscriptionBody {
    associatedtype Payload: Sendable
    /// The next one; nil at the end, and for a task that was cancelled.
    func next(isolation: isolated (any Actor)?) async -> Delivery<Payload>?
}
