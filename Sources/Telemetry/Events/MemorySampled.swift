public import RelayCore

/// The host's memory, in bytes.
public struct MemorySampled: TelemetryEvent {
    public static let about = About(
        "The host's memory.",
        fields: [
            "uptime": .unit("µs", "since the host came up, suspended time included"),
            "total": .unit("bytes"), "free": .unit("bytes"),
            "available": .unit("bytes", "what could be had without swapping"), "buffers": .unit("bytes"),
            "cached": .unit("bytes"), "swapTotal": .unit("bytes"), "swapFree": .unit("bytes"),
        ])
    public let uptime: UInt64
    public let total: UInt64
    public let free: UInt64
    /// What could be had without swapping: free, and what the caches would give back.
    public let available: UInt64
    public let buffers: UInt64
    public let cached: UInt64
    public let swapTotal: UInt64
    public let swapFree: UInt64

    public init(
        uptime: UInt64, total: UInt64, free: UInt64, available: UInt64, buffers: UInt64, cached: UInt64,
        swapTotal: UInt64, swapFree: UInt64
    ) {
        (self.uptime, self.total, self.free, self.available) = (uptime, total, free, available)
        (self.buffers, self.cached, self.swapTotal, self.swapFree) = (buffers, cached, swapTotal, swapFree)
    }
}
