public import RelayInspection
import RelayWire
import Synchronization

/// How calls of commands ended, and how long that took.
struct CommandCounts {
    private(set) var replied = 0
    private(set) var failed = 0
    var unreadable = 0
    /// How long handlers took, from their turn to their answer. For `Status`.
    private(set) var durations = DurationCounts()

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
        let commands = core.calls.answered.withLock { $0 }
        let notices = core.notices.counts.map { ($0.key.rawValue, $0.value) }
        return ServiceMetrics(
            streams: interfaces.map { $0.stream.metrics },
            commands: .init(replied: commands.replied, failed: commands.failed, unreadable: commands.unreadable),
            notices: Dictionary(notices, uniquingKeysWith: +))
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
