import RelayCore
import Synchronization

/// Counts what comes, on the bus's thread, which must not wait; taken by the screen's.
final class TopCounters: Sendable {
    private let tallies = Mutex<[String: TopTally]>([:])

    /// `now` is in microseconds since the Unix epoch.
    func add(_ event: Envelope, now: UInt64) {
        let published = event.stamp.publishedAt.microseconds
        let latency = now > published ? now - published : 0
        tallies.withLock { tallies in
            tallies[event.interface, default: TopTally()].add(event.name, latency, event.stamp.sequence)
        }
    }
    func add(_ gap: Gap, of interface: String) {
        tallies.withLock { tallies in
            if let count = gap.count {
                tallies[interface, default: TopTally()].lost += UInt64(max(0, count))
            } else {
                tallies[interface, default: TopTally()].lostUnknown = true
            }
        }
    }
    /// What has come since the last time.
    func take() -> [String: TopTally] {
        tallies.withLock { tallies in
            defer { tallies = [:] }
            return tallies
        }
    }
}

extension TopTally {
    fileprivate mutating func add(_ name: String, _ latency: UInt64, _ sequence: UInt64) {
        events[name, default: Event()].count += 1
        events[name, default: Event()].latency.add(latency)
        self.sequence = sequence
    }
}
