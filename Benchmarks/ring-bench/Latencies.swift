/// Times of one run, in nanoseconds.
struct Latencies {
    private var values: [UInt64] = []
    init(_ room: Int) { values.reserveCapacity(room) }
    var count: Int { values.count }
    mutating func add(_ value: UInt64) { values.append(value) }

    /// p50, p99, p99.9.
    var text: String {
        let sorted = values.isEmpty ? [0] : values.sorted()
        return [0.5, 0.99, 0.999].map { "\(sorted[min(sorted.count - 1, Int(Double(sorted.count) * $0))])" }
            .joined(separator: " ")
    }
}
