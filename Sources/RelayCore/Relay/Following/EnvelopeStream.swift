package import RelayEvents
package import RelayWire
import Synchronization

/// The events of an interface of any service, without their Swift types, as a queue for programs with a loop of their own.
///
/// A consumer acknowledges what it has handled. What `poll()` returned nil for is announced by `onNews`.
///
/// - Order: that of the interface.
/// - Isolation: from any thread.
/// - Loss: a gap stands in place of the missing events.
/// - Memory: two pages of the journal, and the buffer's limit of live events, however slow the consumer is.
/// - Cancellation: ``cancel()``, or the release of the stream. When the relay ends, the stream has what it holds, and
///   then nothing.
package final class EnvelopeStream: Sendable {
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
    package func poll() -> EventOrGap<Envelope>? { pulled.take() }
    /// Marks everything up to a delivery as handled, so that a position named by `.resuming` may pass it. In order.
    ///
    /// - Parameter delivery: what ``poll()`` returned.
    package func acknowledge(_ delivery: EventOrGap<Envelope>) {
        switch delivery {
        case .event(_, let stamp):
            source.acknowledge(ReplayBuffer.Place(epoch: stamp.epoch, sequence: stamp.sequence))
        case .gap(let gap): if let place = ReplaySource<Envelope>.place(behind: gap) { source.acknowledge(place) }
        }
    }
    /// Whether everything was taken that the service had when the stream began. What comes now is news.
    package var isCaughtUp: Bool { pulled.isCaughtUp }
    /// Whether nothing comes any more, and everything was taken.
    package var isOver: Bool { source.feed.isOver }
    /// Ends the stream, and writes its position. The position's name is free when this returns. Any number of times.
    ///
    /// - Returns: false if the position could not be written: what was acknowledged last will come again.
    @discardableResult package func cancel() -> Bool {
        source.cancel()
        return !source.hasUnwrittenPlace
    }
}
