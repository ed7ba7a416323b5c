import RelayCore
import Synchronization
import RelayWire

/// What came of an interface in some time.
struct TopTally: Equatable {
    struct Event: Equatable {
        var count: UInt64 = 0
        /// From the publishing to the arrival here.
        var latency = LatencyHistogram()
    }
    var events: [String: Event] = [:]
    /// Of the last event that came.
    var sequence: UInt64?
    var lost: UInt64 = 0
    /// It lost some, nobody knows how many.
    var lostUnknown = false
}

/// Counts what comes, on the bus's thread, which must not wait; taken by the screen's.
final class TopCounters: Sendable {
    private let tallies = Mutex<[String: TopTally]>([:])
    /// Events published before it waited for a program that stood still: how long says nothing of the service.
    private let resumedAt = Mutex<UInt64>(0)

    /// `now` is in microseconds since the Unix epoch.
    func add(_ event: Envelope, now: UInt64) {
        let published = event.stamp.publishedAt.microseconds
        let latency = published < resumedAt.withLock { $0 } ? nil : now > published ? now - published : 0
        tallies.withLock { tallies in
            tallies[event.interface, default: TopTally()].add(event.name, latency, event.stamp.sequence)
        }
    }
    func add(_ gap: Gap, of interface: String) {
        tallies.withLock { tallies in
            if let count = gap.count {
                tallies[interface, default: TopTally()].addLost(UInt64(max(0, count)))
            } else {
                tallies[interface, default: TopTally()].lostUnknown = true
            }
        }
    }
    /// The program goes on after it stood still. What was published until now counts, but not how long it took.
    func resume(now: UInt64) {
        resumedAt.withLock { $0 = now }
        tallies.withLock { tallies in
            for (interface, tally) in tallies {
                for event in tally.events.keys { tallies[interface]?.events[event]?.latency = LatencyHistogram() }
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
    /// As many as there can be, where a service reports more.
    fileprivate mutating func addLost(_ count: UInt64) {
        let (sum, isTooMuch) = lost.addingReportingOverflow(count)
        lost = isTooMuch ? .max : sum
    }
    fileprivate mutating func add(_ name: String, _ latency: UInt64?, _ sequence: UInt64) {
        events[name, default: Event()].count += 1
        if let latency { events[name, default: Event()].latency.add(latency) }
        self.sequence = sequence
    }
}

/// Counts times, in microseconds, to a sixteenth of their size.
struct LatencyHistogram: Equatable {
    private static let steps = 16
    private var counts = [UInt32](repeating: 0, count: steps * 61)
    private(set) var total: UInt64 = 0

    mutating func add(_ microseconds: UInt64) {
        let index = Self.index(microseconds)
        counts[index] += counts[index] == .max ? 0 : 1
        total += 1
    }
    mutating func merge(_ other: LatencyHistogram) {
        if other.total == 0 { return }
        for (index, count) in other.counts.enumerated() where count > 0 {
            let (sum, isTooMuch) = counts[index].addingReportingOverflow(count)
            counts[index] = isTooMuch ? .max : sum
        }
        total += other.total
    }
    /// The time that this part of all (0…1) do not exceed, rounded down; nil when there are none.
    func percentile(_ part: Double) -> UInt64? {
        let wanted = (Double(total) * part).rounded(.up)
        var sum = 0.0
        for (index, count) in counts.enumerated() where count > 0 {
            sum += Double(count)
            if sum >= wanted { return Self.value(index) }
        }
        return counts.lastIndex { $0 > 0 }.map(Self.value)
    }

    /// The times that there are, rounded down, and how many of each.
    var steps: [(value: UInt64, count: UInt64)] {
        counts.enumerated().compactMap { index, count in count > 0 ? (Self.value(index), UInt64(count)) : nil }
    }

    private static func index(_ value: UInt64) -> Int {
        if value < UInt64(steps) { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 3) * steps + Int(value >> UInt64(exponent - 4)) % steps
    }
    private static func value(_ index: Int) -> UInt64 {
        if index < steps { return UInt64(index) }
        return UInt64(steps + index % steps) << UInt64(index / steps - 1)
    }
}
