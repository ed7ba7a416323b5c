/// A positioned subscription for tools, which know no Swift types and set the pace.
///
/// - Order: that of the interface. Loss, and what is gone: `.gap` in its place.
/// - Isolation: from any thread; made for one that takes.
/// - Memory: two pages, and the buffer's limit of signals, however slow the tool is.
/// - Cancellation: `cancel()`, or release.
package final class EnvelopeSubscription: Sendable {
    private let source: ReplaySource<Envelope>

    init(_ source: ReplaySource<Envelope>, onNews: @escaping @Sendable () -> Void) {
        self.source = source
        source.feed.onNews(onNews)
    }
    deinit { source.cancel() }

    /// The next event or gap. Nil: none now, and `onNews` reports when there is; or none any more, if `isOver`.
    package func next() -> FollowedDelivery? {
        switch source.next() {
        case .event(let envelope, _)?: .event(envelope)
        case .gap(let gap)?: .gap(gap)
        case .caughtUp?: .caughtUp
        case nil: nil
        }
    }
    /// Everything up to this one was written out: its cursor, if it has one, may move on. In order.
    package func acknowledge(_ delivery: FollowedDelivery) {
        switch delivery {
        case .event(let envelope):
            source.acknowledge(ReplayBuffer.Place(epoch: envelope.stamp.epoch, sequence: envelope.stamp.sequence))
        case .gap(let gap): if let place = ReplaySource<Envelope>.place(behind: gap) { source.acknowledge(place) }
        case .caughtUp: break
        }
    }
    /// Nothing comes any more, and everything was taken.
    package var isOver: Bool { source.feed.isOver }
    /// It was cancelled, and its cursor could not be written: what was acknowledged last will come again.
    package var hasUnwrittenPlace: Bool { source.hasUnwrittenPlace }
    /// Ends it, and writes its cursor; the cursor's name is free when this returns. Any number of times.
    package func cancel() { source.cancel() }
}
