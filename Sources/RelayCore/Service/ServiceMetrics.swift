import Synchronization

/// What a service has done since its start, up to one moment: for a dashboard, a log or a test.
///
/// ```swift
/// for stream in service.metrics.streams { print(stream.interface, stream.events, stream.lag ?? 0) }
/// ```
///
/// Counters begin at the start of this run; other values describe the moment. Only a subscriber's relay knows which
/// events it lost: see ``EventRelay/metrics``.
public struct ServiceMetrics: Hashable, Sendable {
    /// One interface's stream.
    public struct Stream: Hashable, Sendable {
        /// The interface.
        public let interface: String
        /// The epoch of this run.
        public let epoch: UInt64
        /// How many events this run has published.
        public let events: UInt64
        /// The last sequence.
        public let head: UInt64
        /// The oldest sequence that can still be read; nil for a volatile interface.
        public let oldest: UInt64?
        /// Whether signals pause now, because they exceed the budget, or the bus's backlog is too large. Relays that
        /// read the ring or the journal miss nothing.
        public let areSignalsPaused: Bool
        /// How often signals paused.
        public let signalPauses: Int
        /// Whether the ring is open: a peer has asked for it.
        public let isRingOpen: Bool
        /// How often the ring was opened, refused and returned; nil for an interface without a ring.
        public let ring: Ring?
        /// How many calls of this interface (`Attach`, `OpenRing`, `Read` and commands) were refused because the peer
        /// does not meet a requirement.
        public let notPermitted: Int
        /// How many calls of this interface were refused because the peer, its user or all peers together exceed a
        /// limit.
        public let limitsExceeded: Int
        /// The interface's transports, and any other transport that serves a subscriber, by name.
        public let transports: [Transport]
        /// How many subscribers are attached.
        public var subscribers: Int { transports.reduce(0) { $0 + $1.subscribers } }
        /// How many events the slowest subscriber lags behind; nil if none reports its position.
        public var lag: UInt64? { transports.compactMap(\.lag).max() }
    }
    /// One transport by which a stream reaches subscribers.
    public struct Transport: Hashable, Sendable {
        /// The transport's name: `signal`, `ring`, or `memory` in a harness.
        public let name: String
        /// How many subscribers get their events by this transport.
        public let subscribers: Int
        /// How many events the slowest of these subscribers lags behind, by its own report. nil if none reports its
        /// position, as with signals.
        public let lag: UInt64?
        /// How many events the transport has carried. Each signal counts once, however many peers it has. The ring
        /// counts each event since it was created.
        public let carried: UInt64
        /// How many events were not sent because signals paused. Always 0 for the ring.
        public let heldBack: UInt64
        /// How many events were too large for the transport: larger than a message, or than a quarter of the ring. They
        /// can be read from the journal.
        public let tooLarge: UInt64
    }
    /// How often a ring was opened, refused and returned.
    ///
    /// A relay returns its ring when it has no subscriptions left, or when it cannot read the ring. Only the relay
    /// knows the reason, and which events were overwritten before it read them.
    public struct Ring: Hashable, Sendable {
        /// How often a peer opened the ring.
        public let opened: Int
        /// How many calls of `OpenRing` were refused: too many at once, an unknown user, no memory.
        public let refused: Int
        /// How many peers returned the ring, and get signals again.
        public let returned: Int
    }
    /// How calls of commands ended.
    public struct Commands: Hashable, Sendable {
        /// Answered with a reply.
        public internal(set) var replied = 0
        /// Answered with an error: a refusal that the contract declares, or a failure.
        public internal(set) var failed = 0
        /// Refused because their arguments could not be decoded: they belong to another version, or the type refuses a
        /// value.
        public internal(set) var unreadable = 0
        /// How long handlers took, from their turn to their answer. For `Status`.
        var durations = DurationCounts()
    }
    /// The streams, in the order of exporting.
    public let streams: [Stream]
    /// The commands of all interfaces together. Calls that reached no handler are in ``Commands/unreadable``, or in a
    /// stream's ``Stream/notPermitted`` or ``Stream/limitsExceeded``.
    public let commands: Commands
    /// How often each kind of notice occurred, including notices that were left out. `.notPermitted` and
    /// `.limitsExceeded` count refused peers and calls, `.ringUnavailable` counts rings that could not be created, and
    /// `.signalsPaused` counts long pauses.
    public let notices: [Notice.Kind: Int]
}

extension ServiceMetrics.Commands {
    /// - Parameter duration: in nanoseconds.
    mutating func count(_ answer: AnyExportedCommand.Answer, after duration: UInt64) {
        durations.add(duration)
        switch answer {
        case .reply: replied += 1
        case .error, .failed: failed += 1
        case .unreadable: unreadable += 1
        }
    }
}

extension EventService {
    /// What the service has done since its start.
    ///
    /// - Isolation: from any thread. Reading takes each stream's lock for a moment, so do not read it in a tight loop.
    public var metrics: ServiceMetrics {
        ServiceMetrics(
            streams: interfaces.map { $0.stream.metrics }, commands: core.calls.answered.withLock { $0 },
            notices: core.notices.counts)
    }
}

extension PublishedStream {
    var metrics: ServiceMetrics.Stream {
        let subscribers = subscribers
        // At one moment, so that the numbers fit each other.
        return state.withLock { state in
            let (head, outlets) = (state.place.sequence, state.outlets)
            let first = state.history?.first ?? 1
            let status = Dictionary(outlets.status.map { ($0.name, $0.value) }) { first, _ in first }
            let requests = outlets.ring.requests
            return ServiceMetrics.Stream(
                interface: interface, epoch: epoch, events: head - min(head, first - min(first, 1)), head: head,
                oldest: state.history.map { $0.oldest(of: [Stream1.allNames]) },
                areSignalsPaused: status["SignalsPaused"] == .boolean(true), signalPauses: outlets.signals.pauses,
                isRingOpen: status["RingOpen"] == .boolean(true),
                ring: outlets.ring.plan.map { _ in
                    ServiceMetrics.Ring(
                        opened: requests.opened, refused: requests.refused, returned: requests.returned)
                },
                notPermitted: state.refusals.notPermitted, limitsExceeded: state.refusals.limitsExceeded,
                transports: Self.transports(outlets.figures(at: head), subscribers, head: head))
        }
    }
    private static func transports(
        _ figures: [String: OutletFigures], _ subscribers: [Subscriber], head: UInt64
    ) -> [ServiceMetrics.Transport] {
        let served = Dictionary(grouping: subscribers, by: \.transport)
        return Set(figures.keys).union(served.keys).sorted().map { name in
            let (peers, figures) = (served[name] ?? [], figures[name] ?? OutletFigures())
            let lags = peers.filter { $0.sequence > 0 }.map { head - min(head, $0.sequence) }
            return ServiceMetrics.Transport(
                name: name, subscribers: peers.count, lag: lags.max(), carried: figures.carried,
                heldBack: figures.heldBack, tooLarge: figures.tooLarge)
        }
    }
}
