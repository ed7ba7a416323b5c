import RelayCore
import Synchronization
import RelayWire

/// An interface's events from a place in its journal, as `watch` takes them.
final class PulledEnvelopes: PulledEvents {
    private struct State {
        var toldCaughtUp = false
        /// Came with the news that all was there.
        var next: EventOrGap<Envelope>?
        var isUnwritten = false
    }
    private let stream: EnvelopeStream
    private let state = Mutex(State())

    init(_ stream: EnvelopeStream) { self.stream = stream }

    func next() -> PulledDelivery? {
        state.withLock { state in
            let delivery = state.next ?? stream.poll()
            state.next = nil
            if !state.toldCaughtUp, stream.isCaughtUp {
                (state.toldCaughtUp, state.next) = (true, delivery)
                return .caughtUp
            }
            return delivery.map { delivery in
                switch delivery {
                case .event(let event, _): .event(event)
                case .gap(let gap): .gap(gap)
                }
            }
        }
    }
    func acknowledge(_ delivery: PulledDelivery) {
        switch delivery {
        case .event(let event): stream.acknowledge(.event(event, event.stamp))
        case .gap(let gap): stream.acknowledge(.gap(gap))
        case .caughtUp: break
        }
    }
    func cancel() { if !stream.cancel() { state.withLock { $0.isUnwritten = true } } }
    var hasUnwrittenPlace: Bool { state.withLock { $0.isUnwritten } }
}

/// An interface's events from now on, handed over as they come, on the bus's thread.
final class LiveEvents: Sendable {
    let names: Set<String>?
    private let stream = Mutex<EnvelopeStream?>(nil)
    private let interface: String
    private let deliver: @Sendable (WatchInput) -> Void

    init(
        of interface: String, named names: Set<String>?, _ relay: EventRelay,
        _ deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws {
        (self.interface, self.names, self.deliver) = (interface, names, deliver)
        let stream = try relay.polledEnvelopes(of: interface, named: names) { [weak self] in self?.takeAll() }
        self.stream.withLock { $0 = stream }
        takeAll()
    }
    /// One thread at a time: what comes meanwhile is taken, too, or announced.
    private func takeAll() {
        stream.withLock { stream in
            while let delivery = stream?.poll() {
                switch delivery {
                case .event(let event, _): deliver(.event(event))
                case .gap(let gap): deliver(.gap(interface: interface, gap))
                }
            }
        }
    }
}
