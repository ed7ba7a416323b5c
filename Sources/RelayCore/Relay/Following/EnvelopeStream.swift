public import RelayEvents
import Synchronization

/// The events of an interface of any service, without their Swift types: an asynchronous sequence, and a queue for
/// programs with a loop of their own.
///
/// ```swift
/// for await delivery in try relay.envelopes(of: "org.example.Printing1", from: .beginning) {
///     switch delivery {
///     case .event(let event, let stamp): print(stamp.sequence, event.name, try event.values())
///     case .gap(let gap): print("missing", gap.sequences)
///     }
/// }
/// ```
///
/// A program with a loop of its own takes what there is with ``poll()``, and acknowledges it when it has handled it:
///
/// ```swift
/// let stream = try relay.envelopes(of: "org.example.Printing1", from: .resuming("ledger")) {
///     // There is something to take: wakes the loop up, which does this.
/// }
/// while let delivery = stream.poll() {
///     print(delivery)
///     stream.acknowledge(delivery)
/// }
/// ```
///
/// - Order: that of the interface.
/// - Isolation: from any thread or task. Use one consumer, in one of the two ways.
/// - Loss: a gap stands in place of the missing events. The stream never throws.
/// - Memory: two pages of the journal, and the buffer's limit of live events, however slow the consumer is.
/// - Cancellation: ``cancel()``, or the release of the stream and its iterator. When the relay ends, the stream yields
///   what it holds, then ends.
public final class EnvelopeStream: AsyncSequence, Sendable {
    public typealias Element = Delivery<Envelope>
    public typealias Failure = Never
    private let source: ReplaySource<Envelope>
    private let pulled: ReplayStream<Envelope>

    init(_ source: ReplaySource<Envelope>, onNews: (@Sendable () -> Void)? = nil) {
        (self.source, pulled) = (source, ReplayStream(source))
        if let onNews { source.feed.onNews(onNews) }
    }
    deinit { source.cancel() }

    /// The next event or gap, without waiting.
    ///
    /// - Returns: nil if there is none now, or none any more: see ``isOver``.
    public func poll() -> Delivery<Envelope>? { pulled.take() }
    /// Marks everything up to a delivery as handled, so that a position named by `.resuming` may pass it. In order. An
    /// iterator does this when it is asked for the next delivery.
    ///
    /// - Parameter delivery: what ``poll()`` returned.
    public func acknowledge(_ delivery: Delivery<Envelope>) {
        switch delivery {
        case .event(_, let stamp):
            source.acknowledge(ReplayBuffer.Place(epoch: stamp.epoch, sequence: stamp.sequence))
        case .gap(let gap): if let place = ReplaySource<Envelope>.place(behind: gap) { source.acknowledge(place) }
        }
    }
    /// Whether everything was taken that the service had when the stream began. What comes now is news.
    public var isCaughtUp: Bool { pulled.isCaughtUp }
    /// Whether nothing comes any more, and everything was taken.
    public var isOver: Bool { source.feed.isOver }
    /// Ends the stream, and writes its position. The position's name is free when this returns. Any number of times.
    ///
    /// - Returns: false if the position could not be written: what was acknowledged last will come again.
    @discardableResult public func cancel() -> Bool {
        source.cancel()
        return !source.hasUnwrittenPlace
    }
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// The iterator of an ``EnvelopeStream``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: EnvelopeStream

        public func next() async -> Delivery<Envelope>? { await next(isolation: nil) }
        public func next(isolation: isolated (any Actor)?) async -> Delivery<Envelope>? {
            await stream.pulled.next(isolation: isolation)
        }
    }
}
