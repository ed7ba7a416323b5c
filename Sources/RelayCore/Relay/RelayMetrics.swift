import Synchronization

/// What a relay has received since it was made, and what it has missed: for a dashboard, a log or a test.
///
/// ```swift
/// for stream in relay.metrics.streams {
///     print(stream.interface, stream.events, stream.gaps.map { "\($0.reason.rawValue): \($0.sequences)" })
/// }
/// ```
///
/// All numbers count up over the runs of the service and of the bus, except ``Stream/usesRing``. The publisher's
/// subscriptions count together as one, and each positioned subscription counts for itself. Every event that does not
/// reach a handler is counted: in ``Stream/gaps`` if it was lost on the way, in ``Stream/unreadable`` if it arrived and
/// could not be decoded, in ``overflowed`` if a subscription's buffer was full. ``Subscription/missed`` has the sum for
/// one subscription.
public struct RelayMetrics: Hashable, Sendable {
    /// One followed interface.
    public struct Stream: Hashable, Sendable {
        /// The interface.
        public let interface: String
        /// Whether live events come through the ring now.
        public let usesRing: Bool
        /// The transports that have brought events, by name.
        public let transports: [Transport]
        /// What is missing, by reason: those reasons that have occurred, in the order of their names.
        public let gaps: [Gaps]
        /// How many pages of the journal were read.
        public let pages: Int
        /// How often a ring was damaged, or belonged to another run. Its events come as signals then.
        public let ringFaults: Int
        /// How often the service overwrote events in the ring before they were read. Those of a durable interface are
        /// read from the journal, those of a volatile one are a gap.
        public let ringOverruns: Int
        /// How many events arrived and could not be decoded: a field is missing, has another type, or has a value that
        /// the type refuses.
        public let unreadable: Int
        /// How many events arrived, including those that could not be decoded.
        public var events: UInt64 { transports.reduce(0) { $0 &+ $1.events } }
    }
    /// One transport that has brought events.
    public struct Transport: Hashable, Sendable {
        /// The transport's name: `signal`, `ring`, `journal` for events that were read, or `memory` in a harness.
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
        /// How many events are missing, as far as the gaps know it: those of subscriptions to one type of event, or to
        /// all.
        public let events: UInt64
        /// How many sequences the gaps with a known end span. At most so many events are missing: some sequences may
        /// belong to events of types without a subscription.
        public let sequences: UInt64
        /// How many gaps end at an unknown sequence.
        public let openEnded: Int
    }
    /// The interfaces that were subscribed to, in the order of the first subscription.
    public let streams: [Stream]
    /// How many events subscriptions have dropped because their buffers were full, of all interfaces together.
    ///
    /// The subscriptions of ``EventRelay/publisher`` count, whatever was published there, and positioned ones of
    /// volatile interfaces. (Those of durable interfaces read the events again.)
    public let overflowed: Int
    /// How many signals of the service's interfaces were dropped because their sender does not own the service's name.
    public let foreignSignals: Int
}

extension EventRelay {
    /// What this relay has received since it was made, and what it has missed.
    ///
    /// - Isolation: from any thread, also within a handler. From elsewhere it waits until a running `.immediate`
    ///   handler has returned. To read it once a second costs next to nothing.
    public var metrics: RelayMetrics { follower.core.metrics }
}

extension SessionController {
    var metrics: RelayMetrics {
        // A turn must not be asked for within one, as an `.immediate` handler would.
        loop.isCurrent ? metricsInTurn : loop.withTurn { metricsInTurn }
    }
    private var metricsInTurn: RelayMetrics {
        RelayMetrics(
            streams: streams.map { stream in
                let ofReplays = drops(of: stream.interface).unreadable
                return stream.metrics(unreadable: sink.unreadable(of: stream.interface) + ofReplays)
            }, overflowed: overflowed, foreignSignals: foreign.load(ordering: .relaxed))
    }
}

extension StreamController {
    fileprivate func metrics(unreadable: Int) -> RelayMetrics.Stream {
        // A test may bring another inlet.
        let hasRing = inlets.direct is RingInlet
        let transports = [
            (hasRing ? "ring" : "memory", counts.direct), ("signal", counts.signals), ("journal", counts.read),
        ]
        let gaps = counts.gaps.sorted { $0.key.rawValue < $1.key.rawValue }
        return RelayMetrics.Stream(
            interface: interface, usesRing: hasRing && inlets.choice.phase == .direct,
            transports: transports.filter { $0.1 > 0 }.sorted { $0.0 < $1.0 }.map {
                RelayMetrics.Transport(name: $0.0, events: $0.1)
            },
            gaps: gaps.map { reason, count in
                RelayMetrics.Gaps(
                    reason: reason, count: count.gaps, events: count.events, sequences: count.sequences,
                    openEnded: count.openEnded)
            }, pages: counts.pages, ringFaults: counts.faults, ringOverruns: counts.overruns, unreadable: unreadable)
    }
}
