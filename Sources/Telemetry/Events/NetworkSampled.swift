public import RelayCore

/// What one network interface has carried since it came up.
public struct NetworkSampled: TelemetryEvent {
    public static let about = About(
        "What one network interface has carried since it came up.",
        fields: [
            "uptime": .unit("µs", "since the host came up, suspended time included"),
            "receivedBytes": .unit("bytes"), "receivedPackets": .unit("packets"), "receiveErrors": .unit("packets"),
            "receiveDrops": .unit("packets"), "sentBytes": .unit("bytes"), "sentPackets": .unit("packets"),
            "sendErrors": .unit("packets"), "sendDrops": .unit("packets"),
            "link": "the kernel's number of it: ListNetworkInterfaces returns the name",
            "links": "how many were read at once",
        ])
    public let uptime: UInt64
    public let receivedBytes: UInt64
    public let receivedPackets: UInt64
    public let receiveErrors: UInt64
    public let receiveDrops: UInt64
    public let sentBytes: UInt64
    public let sentPackets: UInt64
    public let sendErrors: UInt64
    public let sendDrops: UInt64
    /// The kernel's number of it: `ListNetworkInterfaces` returns the name.
    public let link: UInt32
    /// How many were read at once.
    public let links: UInt32

    public init(
        uptime: UInt64, receivedBytes: UInt64, receivedPackets: UInt64, receiveErrors: UInt64, receiveDrops: UInt64,
        sentBytes: UInt64, sentPackets: UInt64, sendErrors: UInt64, sendDrops: UInt64, link: UInt32, links: UInt32
    ) {
        (self.uptime, self.receivedBytes, self.receivedPackets) = (uptime, receivedBytes, receivedPackets)
        (self.receiveErrors, self.receiveDrops) = (receiveErrors, receiveDrops)
        (self.sentBytes, self.sentPackets, self.sendErrors, self.sendDrops) = (
            sentBytes, sentPackets, sendErrors, sendDrops
        )
        (self.link, self.links) = (link, links)
    }
}
