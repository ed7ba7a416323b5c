/// A positioned subscription as what an `EventStream` takes from.
final class FeedStream<Payload: Sendable>: PulledDeliveries {
    private let source: FeedSource<Payload>

    init(_ source: FeedSource<Payload>) { self.source = source }

    func next(isolation: isolated (any Actor)?) async -> Delivery<Payload>? {
        // Whoever asks for the next one is done with the last one.
        source.acknowledge()
        while !Task.isCancelled {
            switch source.next() {
            case .event(let payload, let stamp)?: return .event(payload, stamp)
            case .gap(let gap)?: return .gap(gap)
            case .caughtUp?: continue
            case nil: break
            }
            if await source.feed.wait(isolation: isolation) { continue }
            if source.feed.isOver { cancel() }
            return nil
        }
        return nil
    }
    func cancel() { source.cancel() }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }
}
