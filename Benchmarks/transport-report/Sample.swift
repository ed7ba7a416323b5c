/// What one run of a cell left behind, as the peers wrote it down.
public struct Sample: Sendable {
    public struct Receiver: Sendable {
        public let received, cpu: UInt64
        public let firstAt, lastAt: UInt64
        /// By event; 0 for what did not come.
        public let latencies: [UInt64]
        public init(received: UInt64, cpu: UInt64, firstAt: UInt64, lastAt: UInt64, latencies: [UInt64]) {
            (self.received, self.cpu, self.firstAt, self.lastAt) = (received, cpu, firstAt, lastAt)
            self.latencies = latencies
        }
    }
    public let sent, senderCPU, daemonCPU: UInt64
    public let callers: [UInt64]
    public let receivers: [Receiver]
    public init(sent: UInt64, senderCPU: UInt64, daemonCPU: UInt64, callers: [UInt64], receivers: [Receiver]) {
        (self.sent, self.senderCPU, self.daemonCPU) = (sent, senderCPU, daemonCPU)
        (self.callers, self.receivers) = (callers, receivers)
    }

    /// The figures of a paced run.
    public var paced: [Metric: Double] {
        var figures = counts
        let all = receivers.flatMap { $0.latencies }
        figures[.p50] = Statistics.lateness(0.5, of: all)
        figures[.p99] = Statistics.lateness(0.99, of: all)
        figures[.p999] = Statistics.lateness(0.999, of: all)
        figures[.last] = Statistics.lateness(0.5, of: lastTimes)
        figures[.caller] = Statistics.percentile(0.5, of: callers.sorted()).map { Double($0) }
        return figures
    }
    /// The figures of a run at full speed.
    public var fast: [Metric: Double] {
        var figures = counts
        let spans = receivers.map { $0.lastAt > $0.firstAt ? $0.lastAt - $0.firstAt : 0 }
        if let span = spans.max(), span > 0 { figures[.rate] = Double(received) * 1e9 / Double(span) }
        return figures
    }
    private var received: UInt64 { receivers.reduce(0) { $0 + $1.received } }
    private var counts: [Metric: Double] {
        var figures: [Metric: Double] = [:]
        if sent > 0, !receivers.isEmpty {
            let due = sent * UInt64(receivers.count)
            figures[.lost] = 100 * Double(due - min(due, received)) / Double(due)
        }
        if received > 0 {
            // Nanoseconds an event are thousandths of a second a million.
            let cpu = senderCPU + receivers.reduce(0) { $0 + $1.cpu }
            figures[.cpu] = Double(cpu) / Double(received) / 1_000
            figures[.daemonCPU] = Double(daemonCPU) / Double(received) / 1_000
        }
        return figures
    }
    /// For each event: when the last had it; 0 if one never had it.
    private var lastTimes: [UInt64] {
        guard let count = receivers.map(\.latencies.count).min() else { return [] }
        return (0..<count).map { event in
            let times = receivers.map { $0.latencies[event] }
            return times.contains(0) ? 0 : times.max() ?? 0
        }
    }
}
