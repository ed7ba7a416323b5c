/// A service's document as an asynchronous sequence: the present state, then each later state.
///
/// ```swift
/// for try await present in try relay.states(of: Inventory.self) {
///     print(present.state.boxes.count)
/// }
/// ```
///
/// - Order: versions ascend. Consecutive states differ.
/// - Isolation: from any task. Use one consumer: two loops would divide the states between them.
/// - Loss: a slow consumer loses no state of a durable interface. If states are missing, the relay reads the present
///   state and yields it next. While the service is away, the last state remains valid.
/// - Cancellation: the sequence ends when it is cancelled, when its last copy and iterator are released, or when its
///   relay ends. In a cancelled task `next()` returns nil.
public struct DocumentStates<Document: DomainDocument>: AsyncSequence, Sendable {
    public typealias Element = VersionedState<Document>
    public typealias Failure = RelayError
    private let subscription: Subscription
    private let handOver: HandOver<Element>

    init(_ subscription: Subscription, _ handOver: HandOver<Element>) {
        (self.subscription, self.handOver) = (subscription, handOver)
    }
    /// Ends the sequence for all its copies.
    public func cancel() { subscription.cancel() }
    public func makeAsyncIterator() -> Iterator { Iterator(states: self) }

    /// The iterator of a ``DocumentStates``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let states: DocumentStates

        /// The next state.
        ///
        /// - Returns: the state; nil at the end.
        /// - Throws: errors that no retry can fix: `.schemaMismatch` for a document of another version, `.notFound`,
        ///   `.notPermitted`.
        public func next() async throws(RelayError) -> VersionedState<Document>? { try await next(isolation: nil) }
        public func next(isolation: isolated (any Actor)?) async throws(RelayError) -> VersionedState<Document>? {
            if let state = await states.handOver.take(isolation: isolation) { return state }
            if let failure = states.handOver.failure, !Task.isCancelled { throw failure }
            return nil
        }
    }
}

/// What a `DocumentStates` ends.
final class DocumentStatesBody<Document: DomainDocument>: SubscriptionBody {
    private let follower: SnapshotFollower<Document, VersionedState<Document>>
    private let handOver: HandOver<VersionedState<Document>>

    init(
        _ follower: SnapshotFollower<Document, VersionedState<Document>>,
        _ handOver: HandOver<VersionedState<Document>>
    ) {
        (self.follower, self.handOver) = (follower, handOver)
    }
    func cancel() {
        follower.cancel()
        handOver.finish()
    }
    var isActive: Bool { follower.isActive && !handOver.isFinished }
    var missed: Int { follower.missed }
}
