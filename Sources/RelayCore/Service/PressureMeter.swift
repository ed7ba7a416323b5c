/// Whether too much is ahead of the slowest subscriber, as a value.
struct PressureMeter {
    /// What may wait in libdbus because the bus takes it slower than it is published, and below what it is little again.
    static let outgoingMarks = (low: 4 << 20, high: 32 << 20)
    /// How many bytes go out between two looks at that.
    private static let lookEvery = 1 << 20

    private var outgoing = 0
    /// Sent since that was seen.
    private var sent = 0
    private(set) var isHigh = false

    func mustLook(_ count: Int) -> Bool { isHigh || sent + count > Self.lookEvery }
    mutating func seen(outgoing: Int) {
        (self.outgoing, sent) = (outgoing, 0)
        if outgoing < Self.outgoingMarks.low { isHigh = false }
    }
    mutating func admits(_ count: Int) -> Bool {
        if outgoing + sent + count > Self.outgoingMarks.high { isHigh = true }
        if !isHigh { sent += count }
        return !isHigh
    }
}
