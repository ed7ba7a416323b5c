/// Times in microseconds, counted to an eighth of their size.
struct Latencies: Equatable, Sendable {
    private static let steps = 8
    /// Up to an hour.
    private var counts = [UInt32](repeating: 0, count: steps * 30)
    private(set) var total = 0

    mutating func add(_ microseconds: UInt64) {
        counts[min(Self.index(microseconds), counts.count - 1)] += 1
        total += 1
    }
    mutating func merge(_ other: Latencies) {
        for (index, count) in other.counts.enumerated() where count > 0 { counts[index] += count }
        total += other.total
    }
    /// The time that this part of all (0…1) do not exceed, rounded down; nil: there are none.
    func percentile(_ part: Double) -> UInt64? {
        let wanted = max(1, Int((Double(total) * part).rounded(.up)))
        var sum = 0
        for (index, count) in counts.enumerated() {
            sum += Int(count)
            if sum >= wanted { return Self.value(index) }
        }
        return nil
    }

    private static func index(_ value: UInt64) -> Int {
        if value < UInt64(steps) { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 2) * steps + Int(value >> UInt64(exponent - 3)) % steps
    }
    private static func value(_ index: Int) -> UInt64 {
        if index < steps { return UInt64(index) }
        return UInt64(steps + index % steps) << UInt64(index / steps - 1)
    }
}
