import TransportReport

/// One round of one contender under one load.
struct Measurement: Codable {
    let callsPerSecond: Double
    let answeredPercent: Double
    /// Microseconds, over all calls that were sent; nil: that part of them was not answered.
    let p50: Double?
    let p99: Double?
    /// CPU microseconds a call.
    let callerCPU: Double
    let serviceCPU: Double
    let daemonCPU: Double
    /// Of the events meanwhile, if there were any.
    let deliveredPercent: Double?

    /// - Parameter latencies: of the answered calls, in nanoseconds.
    init(
        sent: Int, latencies: [UInt64], seconds: Double, callerCPU: Double, serviceCPU: Double, daemonCPU: Double,
        deliveredPercent: Double?
    ) {
        // What was not answered is later than everything.
        let all = latencies.sorted() + [UInt64](repeating: .max, count: sent - latencies.count)
        func percentile(_ part: Double) -> Double? {
            Statistics.percentile(part, of: all).flatMap { $0 == .max ? nil : Double($0) / 1e3 }
        }
        let calls = Double(max(1, latencies.count))
        callsPerSecond = seconds > 0 ? Double(latencies.count) / seconds : 0
        answeredPercent = 100 * Double(latencies.count) / Double(max(1, sent))
        (p50, p99) = (percentile(0.5), percentile(0.99))
        (self.callerCPU, self.serviceCPU) = (callerCPU * 1e6 / calls, serviceCPU * 1e6 / calls)
        (self.daemonCPU, self.deliveredPercent) = (daemonCPU * 1e6 / calls, deliveredPercent)
    }
}
