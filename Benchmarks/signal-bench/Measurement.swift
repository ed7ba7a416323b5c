/// One round of one pair.
struct Measurement: Codable {
    /// From the first receipt to the last.
    let deliveredPerSecond: Double
    let deliveredPercent: Double
    let duplicates: Int
    let reordered: Int
    let p50Microseconds: Double
    let p99Microseconds: Double
    let p999Microseconds: Double
    /// CPU time an event.
    let senderMicroseconds: Double
    let receiverMicroseconds: Double
    let daemonMicroseconds: Double
}

/// What a sender prints.
struct SenderLine: Codable {
    let sent: Int
    let elapsed: Double
    let cpu: Double
}

/// What a receiver prints: times in seconds, latencies in nanoseconds.
struct ReceiverLine: Codable {
    let received: Int
    let lost: Int
    let duplicates: Int
    let reordered: Int
    let elapsed: Double
    let p50: Double
    let p99: Double
    let p999: Double
    let cpu: Double
}
