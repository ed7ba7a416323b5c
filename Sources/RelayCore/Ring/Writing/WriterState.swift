import CRelayShims

/// What a `RingWriter` keeps under its lock.
struct WriterState: ~Copyable {
    private var pen: RecordWriter
    private(set) var sequence: UInt64
    /// The last sequence of each event.
    private var last: [UInt64]
    /// What a payload's size must be; -1 where it is the payload's own affair.
    private let sizes: [Int]
    private let maximumPayload: Int
    /// What the publishing thread looks at: of the wait pages that are attached.
    private var flags: [UnsafeMutableRawPointer] = []
    private(set) var hasEnded = false
    var supply: RingSupply { pen.supply }
    /// How many events were too large, and left a skip record.
    private(set) var skipped: UInt64 = 0

    init(pen: consuming RecordWriter, sequence: UInt64, last: [UInt64], sizes: [Int], maximumPayload: Int) {
        self.pen = pen
        (self.sequence, self.last, self.sizes, self.maximumPayload) = (sequence, last, sizes, maximumPayload)
    }

    mutating func begin(after sequence: UInt64) {
        self.sequence = sequence
        pen.store(base: sequence)
    }
    @inline(__always) private func accepts(_ kind: Int, _ count: Int) -> Bool {
        guard !hasEnded, kind >= 0, kind < sizes.count else { return false }
        let size = sizes[kind]
        return size < 0 || size == count
    }
    /// Returns the sequence, 0 when refused, and whether there is something to do behind it: see `AfterRecord`.
    @inline(__always) mutating func append(_ kind: Int, _ payload: UnsafeRawBufferPointer) -> (UInt64, Bool) {
        guard accepts(kind, payload.count) else { return (0, false) }
        let stamp = Stamp(
            epoch: pen.area.header.epoch, sequence: sequence &+ 1, previous: last[kind], publishedAt: .now)
        let isDue = put(kind, stamp, payload)
        return (hasEnded ? 0 : stamp.sequence, isDue)
    }
    /// Returns whether it was accepted, and whether there is something to do behind it.
    mutating func append(_ kind: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer) -> (Bool, Bool) {
        guard accepts(kind, payload.count), stamp.sequence > sequence, stamp.previous < stamp.sequence else {
            return (false, false)
        }
        let isDue = put(kind, stamp, payload)
        return (!hasEnded, isDue)
    }
    @inline(__always) private mutating func put(
        _ kind: Int, _ stamp: Stamp, _ payload: UnsafeRawBufferPointer
    ) -> Bool {
        let word = UInt32(truncatingIfNeeded: kind)
        let outcome: RecordWriter.Outcome
        if payload.count <= maximumPayload {
            outcome = pen.write(stamp, kind: word, payload) { _ in }
        } else {
            skipped &+= 1
            outcome = pen.write(
                stamp, kind: word | RingLayout.skipped, UnsafeRawBufferPointer(start: nil, count: 0)
            ) { _ in }
        }
        if outcome == .refused {
            // Readers drain what there is, and leave: what follows comes to them another way.
            end()
            return true
        }
        sequence = stamp.sequence
        last[kind] = stamp.sequence
        if flags.isEmpty { return outcome == .isLow }
        // The tail is stored before a flag is read; a sleeper raises the flag before it reads the tail.
        relay_fence_full()
        for flag in flags where relay_load32(flag) != 0 { return true }
        return outcome == .isLow
    }
    mutating func end() {
        if !hasEnded { pen.end() }
        hasEnded = true
        relay_fence_full()
    }
    mutating func attach(_ page: WaitPage) { flags.append(page.flag) }
    mutating func detach(_ page: WaitPage) { flags.removeAll { $0 == page.flag } }
}
