extension LatencyHistogram {
    /// How many times were at most so many microseconds, to a sixteenth of their size.
    func count(atMost bound: UInt64) -> UInt64 {
        steps.reduce(0) { $1.value <= bound ? $0 + $1.count : $0 }
    }
    /// Of all times, to a sixteenth of their size.
    var sum: UInt64 {
        steps.reduce(0) { sum, step in
            let (product, isTooMuch) = step.value.multipliedReportingOverflow(by: step.count)
            return isTooMuch || sum > UInt64.max - product ? .max : sum + product
        }
    }
}
