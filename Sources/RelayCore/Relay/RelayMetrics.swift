import Synchronization

/// What a relay has received since it was made, and what it has missed: for a dashboard, a log or a test.
///
/// ```swift
/// for stream in relay.metrics.streams {
///     print(stream.interface, stream.events, stream.gaps.map { "\($0.reason.rawValue): \($0.sequences)" })
/// }
/// ```
///
/// All numbers continue to grow when the service or the bus restarts. All subscriptions of the publisher count as one,
/// and each positioned subscription counts separately. Every event that does not reach a handler is counted: in
/// ``Stream/gaps`` if it was lost on the way, in ``Stream/unreadable`` if it arrived and could not be decoded, in
/// ``overflowed`` if a subscription's buffer was full. ``Subscription/missed`` has the sum for one subscription.
public struct RelayMetrics: Hashable, Sendable {
    /// One followed interface.
    public struct Stream: Hashable, Sendable {
        /// The interface.
        public let interface: String
        /// Whether live events come through the ring now.
        public let usesRing: Bool
        /// Why live events come as signals, although the interface has a ring: the service has no place left for this
        /// relay, or one of the two lacks memory or file descriptors. Nil if the relay has the ring, has not asked for
        /// it, or if there is none. The relay asks again, at long intervals where places are lacking.
        public let ringRefusal: String?
        /// The transports that have brought events, by name.
        public let transports: [Transport]
        /// The gaps by reason, in the order of the reasons' names. Reasons that have not occurred are left out.
        public let gaps: [Gaps]
        /// How many pages of the journal were read.
        public let pages: Int
        /// How often a ring was damaged, or belonged to another run. Its events then arrive as signals.
        public let ringFaults: Int
        /// How often the service overwrote events in the ring before they were read. The relay reads such events of a
        /// durable interface from the journal. Those of a volatile interface are a gap.
        public let ringOverruns: Int
        /// How many events arrived but could not be decoded: a field is missing, has another type, or has a value that
        /// the type refuses.
        public let unreadable: Int
        /// How many events arrived, including those that could not be decoded.
        public var events: UInt64 { transports.reduce(0) { $0 &+ $1.events } }
    }
    /// One transport that has brought events.
    public struct Transport: Hashable, Sendable {
        /// The transport's name: `signal`, `ring`, `journal`, or `memory` in a harness.
        public let name: String
        /// How many events it has delivered.
        public let events: UInt64
    }
    /// The gaps of one reason.
    public struct Gaps: Hashable, Sendable {
        /// Why events are missing.
        public let reason: Gap.Reason
        /// How many gaps there were.
        public let count: Int
        /// How many events are missing, as far as that is known. Only gaps of subscriptions to one type of event, or to
        /// all types, know their number.
        public let events: UInt64
        /// How many sequences the gaps with a known end cover. This is an upper bound for the missing events, because
        /// some sequences may belong to events of types without a subscription.
        public let sequences: UInt64
        /// How many gaps end at an unknown sequence.
        public let openEnded: Int
    }
    /// The interfaces that were subscribed to, in the order of the first subscription.
    public let streams: [Stream]
    /// How many events all subscriptions together have dropped because their buffers were full.
    ///
    /// This includes every subscription of ``EventRelay/publisher``, whatever was published there, and positioned
    /// subscriptions to volatile interfaces. Positioned subscriptions to durable interfaces read the events again
    /// instead.
    public let overflowed: Int
    /// How many signals of the service's interfaces were dropped because their sender does not own the service's name.
    public let foreignSignals: Int
}

extension EventRelay {
    /// What this relay has received since it was made, and what it has missed.
    ///
    /// - Isolation: from any thread, also within a handler of this or another relay. It waits for nothing.
    public var metrics: RelayMetrics { follower.core.metrics }
}

extension SessionController {
    /// Without a turn: an `.immediate` handler has one already, and one of another relay could wait for it for ever.
    var metrics: RelayMetrics {
        RelayMetrics(
            streams: streams.measured.map { stream in
                let ofReplays = drops(of: stream.interface).unreadable
                return stream.metrics(unreadable: sink.unreadable(of: stream.interface) + ofReplays)
            }, overflowed: overflowed, foreignSignals: foreign.load(ordering: .relaxed))
    }
}

extension StreamController {
    fileprivate func metrics(unreadable: Int) -> RelayMetrics.Stream {
        let transports = [
            ("ring", counts.ring.value), ("signal", counts.signals.value),
            ("journal", counts.read.value),
        ]
        let gaps = counts.gaps.sorted { $0.key.rawValue < $1.key.rawValue }
        return RelayMetrics.Stream(
            interface: interface, usesRing: usesRing.load(ordering: .relaxed), ringRefusal: ringRefusal.withLock { $0 },
            transports: transports.filter { $0.1 > 0 }.sorted { $0.0 < $1.0 }.map {
                RelayMetrics.Transport(name: $0.0, events: $0.1)
            },
            gaps: gaps.map { reason, count in
                RelayMetrics.Gaps(
                    reason: reason, count: count.gaps, events: count.events, sequences: count.sequences,
                    openEnded: count.openEnded)
            }, pages: Int(clamping: counts.pages.value),
            ringFaults: Int(clamping: counts.faults.value), ringOverruns: Int(clamping: counts.overruns.value),
            unreadable: unreadable)
    }
}
