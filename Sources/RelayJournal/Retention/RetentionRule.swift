import RelayCore

/// What of an interface is to go: values in, values out.
struct RetentionRule {
    /// The oldest event of those that are kept.
    struct Oldest: Hashable {
        var sequence: UInt64
        var bytes: UInt64
    }
    enum Urgency: Hashable {
        /// Within the bounds; the `RetentionClock`'s time when the oldest event will have reached its age.
        case none(until: UInt64?)
        /// A little over.
        case some
        /// A whole step's worth.
        case step
        /// So much that it cannot wait until there is nothing else to do.
        case overdue
    }
    let count: UInt64
    let bytes: UInt64
    /// In microseconds.
    let age: UInt64?

    init(_ retention: Retention) {
        count = retention.count.map { UInt64(clamping: $0) } ?? .max
        bytes = retention.bytes.map { UInt64(clamping: $0) } ?? .max
        age = retention.age.map { age in
            let (seconds, attoseconds) = age.components
            return UInt64(clamping: Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000))
        }
    }

    /// - Parameter expiry: when the oldest events reach their age.
    func urgency(events: UInt64, bytes: UInt64, expiry: UInt64?, now: UInt64) -> Urgency {
        let excess = events > count ? events - count : 0
        let excessBytes = bytes > self.bytes ? bytes - self.bytes : 0
        let isOver = expiry.map { $0 < now } ?? false
        let steps = max(excess / UInt64(Maintenance.stepRows), excessBytes >> 20)
        // An age limit does not show how many events exceed it, only since when.
        if steps >= 4 || isOver && now - min(expiry ?? now, now) > 1_000_000 { return .overdue }
        if steps >= 1 { return .step }
        return excess > 0 || excessBytes > 0 || isOver ? .some : .none(until: expiry)
    }

    /// How many of the oldest events have to go.
    ///
    /// - Parameter expired: the last sequence that has reached its age; 0 when none has.
    func excess(of oldest: some Sequence<Oldest>, events: UInt64, bytes: UInt64, expired: UInt64) -> Int {
        var (events, bytes, number) = (events, bytes, 0)
        for event in oldest {
            guard events > count || bytes > self.bytes || event.sequence <= expired else { break }
            events -= min(1, events)
            bytes -= min(event.bytes, bytes)
            number += 1
        }
        return number
    }
}
