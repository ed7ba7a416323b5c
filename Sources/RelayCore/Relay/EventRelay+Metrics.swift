public import RelayInspection
import Synchronization

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
