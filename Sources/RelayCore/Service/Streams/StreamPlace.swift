/// Where a stream stands.
struct StreamPlace: Sendable {
    /// The last that was given; of a durable interface, the last that was emitted.
    var sequence: UInt64 = 0
    /// The last sequence of each event, by its number.
    var last: [UInt64]
    /// The last sequences of names that only an earlier version of the contract had.
    var former: [String: UInt64] = [:]

    @inline(__always) mutating func enter(_ stamp: Stamp, of index: Int) {
        sequence = stamp.sequence
        last[index] = stamp.sequence
    }
    /// The log never has what is up to here: an event of any name may have been there.
    mutating func skip(through sequence: UInt64) {
        self.sequence = max(self.sequence, sequence)
        for index in last.indices { last[index] = max(last[index], sequence) }
        former = former.mapValues { max($0, sequence) }
    }
    init(events count: Int) { last = [UInt64](repeating: 0, count: count) }
}

/// How far an outlet has brought a peer its events.
struct OutletProgress: Sendable {
    /// The transport's name, as in `Status`.
    let transport: String
    /// The last sequence that the peer reports, which may be anything; 0 if it reports none. Not under the stream's
    /// lock: it may look at memory that the peer has, too.
    let sequence: @Sendable () -> UInt64

    init(_ transport: String, sequence: @escaping @Sendable () -> UInt64 = { 0 }) {
        (self.transport, self.sequence) = (transport, sequence)
    }
}

/// What is too large for an outlet that nobody could do without.
struct PayloadLimit: Sendable {
    let bytes: Int
    /// What follows the numbers in the error.
    let reason: String
    init(_ bytes: Int, _ reason: String) { (self.bytes, self.reason) = (bytes, reason) }
}
