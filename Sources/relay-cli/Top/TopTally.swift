/// What came of an interface in some time.
struct TopTally: Equatable {
    struct Event: Equatable {
        var count: UInt64 = 0
        /// From the publishing to the arrival here.
        var latency = LatencyHistogram()
    }
    var events: [String: Event] = [:]
    /// Of the last event that came.
    var sequence: UInt64?
    var lost: UInt64 = 0
    /// It lost some, nobody knows how many.
    var lostUnknown = false
}
