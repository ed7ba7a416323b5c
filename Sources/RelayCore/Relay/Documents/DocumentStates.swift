/// What `snapshots(of:)` returns.
struct DocumentStates<Document: DomainDocument>: AsyncSequence, Sendable {
    typealias Element = VersionedState<Document>
    typealias Failure = RelayError
    private let subscription: Subscription
    private let handOver: HandOver<Element>

    init(_ subscription: Subscription, _ handOver: HandOver<Element>) {
        (self.subscription, self.handOver) = (subscription, handOver)
    }
    func makeAsyncIterator() -> Iterator { Iterator(states: self) }

    /// The iterator of a ``DocumentStates``.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let states: DocumentStates

        func next(isolation: isolated (any Actor)?) async throws(RelayError) -> VersionedState<Document>? {
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
