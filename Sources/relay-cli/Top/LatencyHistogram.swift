/// Counts times, in microseconds, to a sixteenth of their size.
struct LatencyHistogram: Equatable {
    private static let steps = 16
    private var counts = [UInt32](repeating: 0, count: steps * 61)
    private(set) var total: UInt64 = 0

    mutating func add(_ microseconds: UInt64) {
        let index = Self.index(microseconds)
        counts[index] += counts[index] == .max ? 0 : 1
        total += 1
    }
    mutating func merge(_ other: LatencyHistogram) {
        for (index, count) in other.counts.enumerated() where count > 0 {
            let (sum, isTooMuch) = counts[index].addingReportingOverflow(count)
            counts[index] = isTooMuch ? .max : sum
        }
        total += other.total
    }
    /// The time that this part of all (0…1) do not exceed, rounded down; nil when there are none.
    func percentile(_ part: Double) -> UInt64? {
        let wanted = (Double(total) * part).rounded(.up)
        var sum = 0.0
        for (index, count) in counts.enumerated() where count > 0 {
            sum += Double(count)
            if sum >= wanted { return Self.value(index) }
        }
        return counts.lastIndex { $0 > 0 }.map(Self.value)
    }

    private static func index(_ value: UInt64) -> Int {
        if value < UInt64(steps) { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 3) * steps + Int(value >> UInt64(exponent - 4)) % steps
    }
    private static func value(_ index: Int) -> UInt64 {
        if index < steps { return UInt64(index) }
        return UInt64(steps + index % steps) << UInt64(index / steps - 1)
    }
}
