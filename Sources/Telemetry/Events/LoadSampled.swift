public import RelayCore

/// How many threads run or want to.
public struct LoadSampled: TelemetryEvent {
    public static let about = About(
        "How many threads run or want to.",
        fields: [
            "uptime": .unit("µs", "since the host came up, suspended time included"),
            "over1Minute": .unit("threads", "the kernel's average"), "over5Minutes": .unit("threads"),
            "over15Minutes": .unit("threads"), "running": .unit("threads", "at this moment"),
            "threads": .unit("threads"),
        ])
    public let uptime: UInt64
    /// The kernel's averages over 1, 5 and 15 minutes; those that wait for a disk are in them.
    public let over1Minute: Double
    public let over5Minutes: Double
    public let over15Minutes: Double
    /// At this moment.
    public let running: UInt32
    public let threads: UInt32

    public init(
        uptime: UInt64, over1Minute: Double, over5Minutes: Double, over15Minutes: Double, running: UInt32,
        threads: UInt32
    ) {
        (self.uptime, self.over1Minute, self.over5Minutes) = (uptime, over1Minute, over5Minutes)
        (self.over15Minutes, self.running, self.threads) = (over15Minutes, running, threads)
    }
}
