/// What a service has done since its start, up to one moment: for a dashboard, a log or a test.
///
/// ```swift
/// for stream in service.metrics.streams { print(stream.interface, stream.events, stream.lag ?? 0) }
/// ```
///
/// Counters begin at the start of this run; other values describe the moment. Only a subscriber's relay knows which
/// events it lost: see ``RelayMetrics``.
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

        package init(
            interface: String, epoch: UInt64, events: UInt64, head: UInt64, oldest: UInt64?, areSignalsPaused: Bool,
            signalPauses: Int, isRingOpen: Bool, ring: Ring?, notPermitted: Int, limitsExceeded: Int,
            transports: [Transport]
        ) {
            self.interface = interface
            self.epoch = epoch
            self.events = events
            self.head = head
            self.oldest = oldest
            self.areSignalsPaused = areSignalsPaused
            self.signalPauses = signalPauses
            self.isRingOpen = isRingOpen
            self.ring = ring
            self.notPermitted = notPermitted
            self.limitsExceeded = limitsExceeded
            self.transports = transports
        }
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

        package init(name: String, subscribers: Int, lag: UInt64?, carried: UInt64, heldBack: UInt64, tooLarge: UInt64)
        {
            self.name = name
            self.subscribers = subscribers
            self.lag = lag
            self.carried = carried
            self.heldBack = heldBack
            self.tooLarge = tooLarge
        }
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

        package init(opened: Int, refused: Int, returned: Int) {
            self.opened = opened
            self.refused = refused
            self.returned = returned
        }
    }
    /// How calls of commands ended.
    public struct Commands: Hashable, Sendable {
        /// Answered with a reply.
        public let replied: Int
        /// Answered with an error: a refusal that the contract declares, or a failure.
        public let failed: Int
        /// Refused because their arguments could not be decoded: they belong to another version, or the type refuses a
        /// value.
        public let unreadable: Int

        package init(replied: Int, failed: Int, unreadable: Int) {
            self.replied = replied
            self.failed = failed
            self.unreadable = unreadable
        }
    }
    /// The streams, in the order of exporting.
    public let streams: [Stream]
    /// The commands of all interfaces together. Calls that reached no handler are in ``Commands/unreadable``, or in a
    /// stream's ``Stream/notPermitted`` or ``Stream/limitsExceeded``.
    public let commands: Commands
    /// How often each kind of notice occurred, by `Notice.Kind.rawValue`, including notices that were left out.
    /// `NotPermitted` and `LimitsExceeded` count refused peers and calls, `RingUnavailable` rings that could not be created,
    /// `SignalsPaused` long pauses.
    public let notices: [String: Int]

    package init(streams: [Stream], commands: Commands, notices: [String: Int]) {
        self.streams = streams
        self.commands = commands
        self.notices = notices
    }
}
