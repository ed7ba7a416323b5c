public import RelayEvents

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
/// ``overflowed`` if a subscription's buffer was full. `Subscription.missed` has the sum for one subscription.
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

        package init(
            interface: String, usesRing: Bool, ringRefusal: String?, transports: [Transport], gaps: [Gaps], pages: Int,
            ringFaults: Int, ringOverruns: Int, unreadable: Int
        ) {
            self.interface = interface
            self.usesRing = usesRing
            self.ringRefusal = ringRefusal
            self.transports = transports
            self.gaps = gaps
            self.pages = pages
            self.ringFaults = ringFaults
            self.ringOverruns = ringOverruns
            self.unreadable = unreadable
        }
    }
    /// One transport that has brought events.
    public struct Transport: Hashable, Sendable {
        /// The transport's name: `signal`, `ring`, `journal`, or `memory` in a harness.
        public let name: String
        /// How many events it has delivered.
        public let events: UInt64

        package init(name: String, events: UInt64) {
            self.name = name
            self.events = events
        }
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

        package init(reason: Gap.Reason, count: Int, events: UInt64, sequences: UInt64, openEnded: Int) {
            self.reason = reason
            self.count = count
            self.events = events
            self.sequences = sequences
            self.openEnded = openEnded
        }
    }
    /// The interfaces that were subscribed to, in the order of the first subscription.
    public let streams: [Stream]
    /// How many events all subscriptions together have dropped because their buffers were full.
    ///
    /// This includes every subscription of `EventRelay.publisher`, whatever was published there, and positioned
    /// subscriptions to volatile interfaces. Positioned subscriptions to durable interfaces read the events again
    /// instead.
    public let overflowed: Int
    /// How many signals of the service's interfaces were dropped because their sender does not own the service's name.
    public let foreignSignals: Int

    package init(streams: [Stream], overflowed: Int, foreignSignals: Int) {
        self.streams = streams
        self.overflowed = overflowed
        self.foreignSignals = foreignSignals
    }
}
