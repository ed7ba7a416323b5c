/// A subscription as a sequence of events and gaps. It holds events from the moment it was asked for, not from its first
/// iteration.
///
/// - Order: that of `publish`; a stream of an interface has the interface's one order.
/// - Loss: a `.gap` in the place of what is missing. It never throws.
/// - Cancellation: it ends when it is cancelled or when its last copy and iterator are released; when its publisher goes or
///   its buffer ends it, after what it holds. A cancelled task's `next()` returns nil and takes nothing.
/// - Isolation: from any task. Made for one consumer: two loops share the deliveries.
public struct EventStream<Payload: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Delivery<Payload>
    public typealias Failure = Never
    private enum Source: Sendable {
        case buffer(StreamBuffer, unbox: @Sendable (AnyEventBox) -> Payload)
        case pulled(any PulledDeliveries<Payload>)
    }
    private let handle: Subscription
    private let source: Source

    init(_ buffer: StreamBuffer, _ unbox: @escaping @Sendable (AnyEventBox) -> Payload) {
        (source, handle) = (.buffer(buffer, unbox: unbox), Subscription(buffer))
    }
    package init(_ pulled: any PulledDeliveries<Payload>) { (source, handle) = (.pulled(pulled), Subscription(pulled)) }

    /// Ends the stream for all its copies; what is buffered is dropped.
    public func cancel() { handle.cancel() }
    /// How many events went missing in gaps so far, delivered or not. A gap that has no count counts as one.
    public var missed: Int { handle.missed }

    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: EventStream

        public func next() async -> Delivery<Payload>? { await next(isolation: nil) }
        public func next(isolation: isolated (any Actor)?) async -> Delivery<Payload>? {
            switch stream.source {
            case .pulled(let pulled): return await pulled.next(isolation: isolation)
            case .buffer(let buffer, let unbox):
                switch await buffer.next(isolation: isolation) {
                case .event(let box, let stamp)?: return .event(unbox(box), stamp)
                case .gap(let gap)?: return .gap(gap)
                case nil: return nil
                }
            }
        }
    }
}

/// What an `EventStream` takes from, when it is not a publisher's buffer.
package protocol PulledDeliveries<Payload>: SubscriptionBody {
    associatedtype Payload: Sendable
    /// The next one; nil at the end, and for a task that was cancelled.
    func next(isolation: isolated (any Actor)?) async -> Delivery<Payload>?
}
