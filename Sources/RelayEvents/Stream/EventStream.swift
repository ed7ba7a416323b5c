import Synchronization

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
/// - Loss: a ``EventOrGap/gap(_:)`` stands in place of the missing events. The stream never throws.
/// - Cancellation: the stream ends when it is cancelled, or when its last copy and iterator are released. If its
///   publisher is released or its buffer ends it, it first yields what it holds. In a cancelled task `next()` returns
///   nil and consumes nothing.
public struct EventStream<Payload: Sendable>: AsyncSequence, Sendable {
    public typealias Element = EventOrGap<Payload>
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
    package func poll() -> EventOrGap<Payload>? {
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
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self, presence: LoopPresence(loops)) }
    private var loops: LoopCount {
        switch source {
        case .buffer(let buffer, _): buffer.loops
        case .pulled(let pulled): pulled.loops
        }
    }

    // MARK: Batches

    /// The same stream, as all that is there at a time: for 100,000 events a second and more.
    ///
    /// ```swift
    /// for await batch in stream.batches {
    ///     for event in batch.events { histogram.add(event.microseconds) }
    ///     if let gap = batch.gap { histogram.note(gap) }
    /// }
    /// ```
    ///
    /// Order, isolation, loss and cancellation are those of the stream. A batch counts as handled when the next one is
    /// requested.
    public var batches: some AsyncSequence<EventBatch<Payload>, Never> & Sendable { EventBatches(stream: self) }
    /// The next delivery, if it is there; what was taken before is not handled yet.
    fileprivate func takeMore() -> EventOrGap<Payload>? {
        switch source {
        case .pulled(let pulled): pulled.takeMore()
        case .buffer: poll()
        }
    }

    /// The iterator of an ``EventStream``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: EventStream
        private let presence: LoopPresence
        fileprivate init(stream: EventStream, presence: LoopPresence) {
            (self.stream, self.presence) = (stream, presence)
        }

        public func next(isolation: isolated (any Actor)?) async -> EventOrGap<Payload>? {
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

/// A stream's events, as all that is there at a time.
private struct EventBatches<Payload: Sendable>: AsyncSequence, Sendable {
    typealias Element = EventBatch<Payload>
    typealias Failure = Never
    let stream: EventStream<Payload>
    func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let base: EventStream<Payload>.Iterator
        func next(isolation: isolated (any Actor)?) async -> EventBatch<Payload>? {
            guard let first = await base.next(isolation: isolation) else { return nil }
            var batch = EventBatch<Payload>()
            var delivery: EventOrGap<Payload>? = first
            while let next = delivery, batch.add(next) { delivery = base.stream.takeMore() }
            return batch
        }
    }
}

/// What an `EventStream` takes from, when it is not a publisher's buffer.
package protocol PulledDeliveries<Payload>: SubscriptionBody {
    associatedtype Payload: Sendable
    /// The next one; nil at the end, and for a task that was cancelled.
    func next(isolation: isolated (any Actor)?) async -> EventOrGap<Payload>?
    /// The next one, if it is there.
    func poll() -> EventOrGap<Payload>?
    /// The same, as part of a batch: what was taken before is not handled yet.
    func takeMore() -> EventOrGap<Payload>?
    /// The loops over it.
    var loops: LoopCount { get }
}

/// How many loops take from a stream: tests wait until they rest.
package final class LoopCount: Sendable {
    private let count = Atomic(0)
    package init() {}
    package var isZero: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }
    fileprivate func add(_ number: Int) { count.wrappingAdd(number, ordering: .sequentiallyConsistent) }
}
/// Lasts as long as a loop's iterator.
private final class LoopPresence: Sendable {
    private let loops: LoopCount
    init(_ loops: LoopCount) {
        self.loops = loops
        loops.add(1)
    }
    deinit { loops.add(-1) }
}

/// Events that were there together, in their order, and the gap behind them.
public struct EventBatch<Payload: Sendable>: Sendable {
    /// The events, one behind the other in memory.
    public private(set) var events: [Payload] = []
    /// Their places in the stream, in the same order.
    public private(set) var stamps: [Stamp] = []
    /// What is missing behind the last event; nil: nothing.
    public private(set) var gap: Gap?
    /// How many events there are at most.
    private static var limit: Int { 4_096 }

    /// Whether there is room for more.
    fileprivate mutating func add(_ delivery: EventOrGap<Payload>) -> Bool {
        switch delivery {
        case .event(let payload, let stamp):
            events.append(payload)
            stamps.append(stamp)
            return events.count < Self.limit
        case .gap(let gap):
            self.gap = gap
            return false
        }
    }
}

/// What an ``EventStream`` yields: an event, or a gap in the place of missing events.
public enum EventOrGap<Payload: Sendable>: Sendable {
    /// An event, and its place in the stream.
    case event(Payload, Stamp)
    /// Events that are missing here.
    case gap(Gap)
}
