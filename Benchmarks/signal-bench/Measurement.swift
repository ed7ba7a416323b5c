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
