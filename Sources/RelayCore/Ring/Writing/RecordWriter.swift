import CRelayShims

/// Writes records into a ring: one thread at a time.
///
/// The order of the stores is the protocol; docs/internals/RING.md argues for it, and the tests check it against a model and by
/// killing a writer between any two of them.
package struct RecordWriter: ~Copyable {
    /// The moments between two stores, for tests that stop there.
    package enum Moment: Int, CaseIterable, Sendable {
        case begun, intended, length, sequence, previous, publishedAt, half, payload, indexed, published
    }
    package let area: RingArea
    private let intentWord: UnsafeMutableRawPointer
    private let tailWord: UnsafeMutableRawPointer
    private let data: UnsafeMutableRawPointer
    private let mask: UInt64
    private let shift: UInt64
    package let supply: RingSupply
    /// Up to here nothing need be looked at: it is announced, has memory, and enough of it follows.
    private var limit: UInt64 = 0
    /// Announced to be overwritten, in whole parts: the line that each reader looks at behind each copy does not change
    /// with each record.
    private var intent: UInt64 = 0
    /// So far ahead memory is asked for that the next records need: it may be in the cache of a reader, which had it a
    /// lap ago.
    private static var ahead: UInt64 { 512 }
    private static var line: UInt64 { 64 }
    /// It was asked for up to here.
    private var asked: UInt64 = 0
    /// Everything below is published.
    package private(set) var tail: UInt64 = 0
    /// The part of the data in which the last record began. An empty ring's first entry is right already.
    private var part: UInt64 = 0

    /// - Parameter source: for tests of what has no memory.
    package init(_ area: RingArea, source: @escaping RingSupply.Source = { relay_supply($0, $1) }) {
        self.area = area
        supply = RingSupply(area, source)
        (intentWord, tailWord, data) = (area.intent, area.tail, area.data)
        mask = UInt64(area.header.capacity - 1)
        shift = UInt64(RingLayout.indexShift(area.header.capacity))
    }

    /// What became of a record.
    package enum Outcome {
        case written
        /// And memory is to be fetched for those that follow.
        case isLow
        /// There is no memory for it: nothing was written, and nothing can be any more.
        case refused
    }
    /// Appends a record with at most `RingLayout.maximumPayload` bytes.
    @discardableResult
    @inline(__always) package mutating func write(
        _ stamp: Stamp, kind: UInt32, _ payload: UnsafeRawBufferPointer, at moment: (Moment) -> Void
    ) -> Outcome {
        let next = tail &+ UInt64(RingLayout.recordSize(payload.count))
        let place = data + Int(tail & mask)
        moment(.begun)
        var outcome = Outcome.written
        // First: a reader that sees a byte of what follows also sees that the old ones are gone.
        if next > limit {
            outcome = open(through: next)
            if outcome == .refused { return outcome }
        }
        // Each time: this thread's stores, and an intent that another one may have stored.
        relay_fence_release()
        moment(.intended)
        relay_store(place, UInt64(UInt32(payload.count)) | UInt64(kind) << 32)
        moment(.length)
        relay_store(place + 8, stamp.sequence)
        moment(.sequence)
        relay_store(place + 16, stamp.previous)
        moment(.previous)
        relay_store(place + 24, stamp.publishedAt.microseconds)
        moment(.publishedAt)
        if let bytes = payload.baseAddress {
            let half = payload.count / 2 & ~7
            relay_store_words(place + 32, bytes, half)
            moment(.half)
            relay_store_words(place + 32 + half, bytes + half, payload.count - half)
        }
        moment(.payload)
        if tail >> shift != part {
            part = tail >> shift
            relay_store(area.index + 8 * Int(part % UInt64(RingLayout.indexCount)), tail)
        }
        moment(.indexed)
        // Last: a reader that sees it sees the whole record.
        relay_store_release(tailWord, next)
        // Never what was just written, which readers are after.
        var line = max(asked, (next &+ Self.line &- 1) & ~(Self.line &- 1))
        while line < next &+ Self.ahead {
            relay_prefetch_to_write(data + Int(line & mask))
            line &+= Self.line
        }
        asked = line
        tail = next
        moment(.published)
        return outcome
    }
    /// Announces what is to be overwritten up to there, and sees to its memory. Apart: it is rare.
    @inline(never) private mutating func open(through next: UInt64) -> Outcome {
        guard supply.ensure(through: next) else { return .refused }
        if next > intent {
            intent = ((next &- 1) >> shift &+ 1) << shift
            relay_store(intentWord, intent)
        }
        let isLow = next > supply.low
        if isLow { supply.ask() }
        // Once it was asked for, this looks again only when there is none left.
        limit = min(intent, isLow ? supply.end : supply.low)
        return isLow ? .isLow : .written
    }
    /// Nothing was written yet, and nobody else has the memory.
    func store(base: UInt64) { relay_store(area.memory.base + RingLayout.baseOffset, base) }
    /// Nothing follows.
    package func end() { relay_store_release(area.end, 1) }
}
