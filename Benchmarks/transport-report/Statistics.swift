/// What is said of several values.
public enum Statistics {
    /// The least value that is not below that part of all of them; nil of none.
    public static func percentile(_ part: Double, of sorted: [UInt64]) -> UInt64? {
        if sorted.isEmpty { return nil }
        let rank = (part * Double(sorted.count)).rounded(.up)
        return sorted[min(sorted.count, max(1, Int(rank))) - 1]
    }
    /// The same of times, in which 0 stands for what never came: that is infinitely late.
    public static func lateness(_ part: Double, of times: [UInt64]) -> Double? {
        let sorted = times.map { $0 == 0 ? UInt64.max : $0 }.sorted()
        return percentile(part, of: sorted).map { $0 == .max ? .infinity : Double($0) }
    }
    /// The middle one, or the mean of the middle two; nil of none.
    public static func median(_ values: [Double]) -> Double? {
        if values.isEmpty { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
