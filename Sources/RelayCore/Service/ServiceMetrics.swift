import Synchronization

/// What a service has done since its start, as of one moment: for a dashboard, a log, or a test.
///
/// ```swift
/// for stream in service.metrics.streams { print(stream.interface, stream.events, stream.slowest ?? 0) }
/// ```
///
/// All numbers count up from the start of this run, except those that are of a moment. A subscriber's losses are known
/// only to its relay.
public struct ServiceMetrics: Hashable, Sendable {
    /// One interface's stream.
    public struct Stream: Hashable, Sendable {
        /// The interface.
        public let interface: String
        /// The number of this run.
        public let epoch: UInt64
        /// How many events this run has published.
        public let events: UInt64
        /// The last sequence.
        public let head: UInt64
        /// The oldest sequence that can still be read; nil for a volatile interface.
        public let oldest: UInt64?
        /// Whether signals pause now, because there are too many for the budget or the bus. Relays on the ring or the
        /// journal notice nothing.
        public let isPaused: Bool
        /// Whether the ring is in use.
        public let hasRing: Bool
        /// The transports that bring attached subscribers their events, by name.
        public let transports: [Transport]
        /// How many subscribers are attached.
        public var subscribers: Int { transports.reduce(0) { $0 + $1.subscribers } }
        /// How many events the slowest subscriber lags behind; nil if none reports its position.
        public var slowest: UInt64? { transports.compactMap(\.slowest).max() }
    }
    /// One way by which a stream reaches subscribers.
    public struct Transport: Hashable, Sendable {
        /// As in `Envelope` and `Status`: `signal`, `ring`.
        public let name: String
        /// How many subscribers have their events by it.
        public let subscribers: Int
        /// How many events the slowest of them lags behind, by its own report; nil if none reports, as with signals.
        public let slowest: UInt64?
    }
    /// How calls of commands ended.
    public struct Commands: Hashable, Sendable {
        /// Answered with a reply.
        public internal(set) var replied = 0
        /// Answered with an error: a refusal that the contract declares, or a failure.
        public internal(set) var failed = 0
    }
    /// The streams, in the order of exporting.
    public let streams: [Stream]
    /// The commands of all interfaces together. Calls that no handler got are not among them.
    public let commands: Commands
    /// How often each kind of notice came up, whether it was reported or left out: `.notPermitted` and `.limitExceeded`
    /// are refused peers and calls, `.ringUnavailable` are rings that could not be made, `.signalsPaused` long pauses.
    public let notices: [Notice.Kind: Int]
    /// How many calls were refused because the peer may not make them, or has too many waiting.
    public var refusedCalls: Int { (notices[.notPermitted] ?? 0) + (notices[.limitExceeded] ?? 0) }
}

extension ServiceMetrics.Commands {
    mutating func count(_ answer: AnyExportedCommand.Answer) {
        switch answer {
        case .reply: replied += 1
        case .error: failed += 1
        }
    }
}

extension EventService {
    /// What the service has done since its start.
    ///
    /// - Isolation: from any thread. It takes each stream's lock for a moment, so read it now and then, not in a tight
    ///   loop.
    public var metrics: ServiceMetrics {
        ServiceMetrics(
            streams: interfaces.map { $0.stream.metrics }, commands: core.answered.withLock { $0 },
            notices: core.notices.counts)
    }
}

extension PublishedStream {
    fileprivate var metrics: ServiceMetrics.Stream {
        let (head, oldest) = extent
        let first = state.withLock { $0.history?.recent.last?.first } ?? 1
        var transports: [String: (subscribers: Int, slowest: UInt64?)] = [:]
        for subscriber in subscribers {
            var entry = transports[subscriber.transport] ?? (0, nil)
            entry.subscribers += 1
            if subscriber.sequence > 0 {
                entry.slowest = max(entry.slowest ?? 0, head - min(head, subscriber.sequence))
            }
            transports[subscriber.transport] = entry
        }
        let status = Dictionary(outletStatus.map { ($0.name, $0.value) }) { first, _ in first }
        return ServiceMetrics.Stream(
            interface: interface, epoch: epoch, events: head - min(head, first - min(first, 1)), head: head,
            oldest: oldest == .max ? nil : oldest, isPaused: status["SignalsPaused"] == .boolean(true),
            hasRing: status["RingOpen"] == .boolean(true),
            transports: transports.sorted { $0.key < $1.key }.map {
                ServiceMetrics.Transport(name: $0.key, subscribers: $0.value.subscribers, slowest: $0.value.slowest)
            })
    }
}
