/// A service's document as an asynchronous sequence: its present state, then each state after it.
///
/// ```swift
/// for try await present in try relay.states(of: Inventory.self) {
///     print(present.state.boxes.count)
/// }
/// ```
///
/// - Order: versions ascend. Two states that follow each other differ.
/// - Isolation: from any task. It is for one consumer: two loops would share the states.
/// - Loss: a slow consumer loses no state of a durable interface. Where states are missing, the present one is read and
///   comes next. While the service is away, the last state stands.
/// - Cancellation: it ends when it is cancelled, or when its last copy and iterator are released, and with its relay.
///   In a cancelled task `next()` returns nil.
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
        /// - Throws: errors that no retry would mend: `.schemaMismatch` for a document of another version, `.notFound`,
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
