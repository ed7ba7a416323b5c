/// For how long a machine kept a processor from a process that wanted nothing else: by its kernel's threads, its interrupts
/// and its host.
public struct Stops: Sendable {
    /// The longest first.
    private let lengths: [Double]
    private let time: Double

    /// - Parameters:
    ///   - lengths: of the stops.
    ///   - nanoseconds: how long they were looked for.
    public init(_ lengths: [UInt64], in nanoseconds: Double) {
        self.lengths = lengths.map { Double($0) }.sorted(by: >)
        time = max(nanoseconds, self.lengths.reduce(0, +))
    }
    public var longest: Double { lengths.first ?? 0 }
    /// Of the time, in percent.
    public var share: Double { time > 0 ? 100 * lengths.reduce(0, +) / time : 0 }
    /// The least percentile that events at a steady pace can have whose receiver is stopped so: an event waits for the
    /// rest of the stop into which it comes, and all others take no time.
    public func best(_ part: Double) -> Double {
        // So much of the time may lie in the parts of the stops that come before their last `x` nanoseconds.
        let allowed = (1 - part) * time
        var sum = 0.0
        for (place, length) in lengths.enumerated() {
            sum += length
            let x = (sum - allowed) / Double(place + 1)
            if x >= (place + 1 < lengths.count ? lengths[place + 1] : 0) { return x }
        }
        return 0
    }
    public var figures: [Metric: Double] {
        [.longestStop: longest, .stopShare: share, .p99: best(0.99), .p999: best(0.999)]
    }
}
