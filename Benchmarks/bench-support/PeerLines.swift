/// What a sender of events prints.
public struct SenderLine: Codable, Sendable {
    public let sent: Int
    public let elapsed: Double
    public let cpu: Double
}

/// What a receiver of events prints: times in seconds, latencies in nanoseconds.
public struct ReceiverLine: Codable, Sendable {
    public let received: Int
    public let lost: Int
    public let duplicates: Int
    public let reordered: Int
    public let elapsed: Double
    public let p50: Double
    public let p99: Double
    public let p999: Double
    public let cpu: Double
}

/// What a caller prints: the monotonic clock's nanoseconds at its begin and its last reply, CPU seconds in between.
public struct CallerLine: Codable, Sendable {
    public let sent: Int
    public let answered: Int
    public let start: UInt64
    public let end: UInt64
    public let cpu: Double
}
