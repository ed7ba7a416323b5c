/// A subscription as an asynchronous sequence of events and gaps.
///
/// It buffers events from the moment it is created, not from the first iteration.
///
/// ```swift
/// for await delivery in publisher.events(of: JobPrinted.self) {
///     switch delivery {
///     case .event(let job, let stamp): print(stamp.sequence, job.title)
///     case .gap(let gap): print("missing", gap.sequences)
///     }
/// }
/// ```
///
/// - Order: that of `publish`. A stream of an interface yields all its events in the interface's order.
/// - Isolation: from any task. Use one consumer: two loops would divide the deliveries between them.
/// - Loss: a ``Delivery/gap(_:)`` stands in place of the missing events. The stream never throws.
/// - Cancellation: the stream ends when it is cancelled, or when its last copy and iterator are released. If its
///   publisher is released or its buffer ends it, it first yields what it holds. In a cancelled task `next()` returns
///   nil and consumes nothing.
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

    /// Ends the stream for all its copies, and drops the buffered events.
    public func cancel() { handle.cancel() }
    /// How many events are missing so far, whether or not their gaps were delivered. A gap without a count counts as
    /// one.
    public var missed: Int { handle.missed }

    /// The next delivery, without waiting; nil: there is none now.
    package func poll() -> Delivery<Payload>? {
        switch source {
        case .pulled(let pulled): return pulled.poll()
        case .buffer(let buffer, let unbox):
            switch buffer.poll() {
            case .event(let box, let stamp)?: return .event(unbox(box), stamp)
            case .gap(let gap)?: return .gap(gap)
            case nil: return nil
            }
        }
    }
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// The iterator of an ``EventStream``.
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
    /// The next one, if it is there.
    func poll() -> Delivery<Payload>?
}

/// What an ``EventStream`` yields: an event, or a gap in the place of missing events.
public enum Delivery<Payload: Sendable>: Sendable {
    /// An event, and its place in the stream.
    case event(Payload, Stamp)
    /// Events that are missing here.
    case gap(Gap)
}
