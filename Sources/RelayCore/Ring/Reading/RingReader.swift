import CRelayShims

/// The reading end of a ring: one thread at a time. It writes nothing, and asks nobody.
///
/// - Order: events come in the order of their sequences, each at most once.
/// - Loss: whatever does not come is reported as a range, in its place.
/// - Whatever the ring's memory holds, a step ends in an event, a range, nothing, or a `RingFault`, which is the last
///   word.
package struct RingReader: ~Copyable, @unchecked Sendable {  // The buffer is its own, the ring's memory is only read.
    private let area: RingArea
    private let intentWord: UnsafeRawPointer
    private let tailWord: UnsafeRawPointer
    private let endWord: UnsafeRawPointer
    private let data: UnsafeRawPointer
    private let capacity: UInt64
    private let maximumPayload: Int
    /// Sizes of raw payloads; -1 where any will do.
    private let sizes: [Int]

    /// Bytes from `position` to `filled`, copied while they were safe: only the copy is read.
    private let buffer: UnsafeMutableRawPointer
    private let bufferSize: Int
    private var bufferStart: UInt64 = 0
    private var filled: UInt64 = 0
    /// Where the next record begins, in the stream of all bytes that were ever written.
    package private(set) var position: UInt64 = 0
    private var knownTail: UInt64 = 0

    /// All up to this one are delivered or reported.
    package private(set) var sequence: UInt64
    /// Of the last record that was read.
    private var lastRecord: UInt64
    /// Something was overwritten, and no record has come yet that shows how much.
    package private(set) var wasLapped = false
    private var hasEnded = false
    private var fault: RingFault?

    /// The last record's bytes. Valid until the next step.
    package private(set) var payload = UnsafeRawBufferPointer(start: nil, count: 0)

    package var header: RingHeader { area.header }

    /// How much is copied at once, if there is so much.
    static let batch = 16 << 10
    /// How often a step tries to get ahead of a writer that overwrites what it is about to read.
    private static let attempts = 8
    /// How many records that the subscriber has already one step passes over.
    private let passing: Int

    /// - Parameters:
    ///   - after: the sequence up to which the subscriber has everything. Records up to it are passed over.
    ///   - atTail: begins with what is published from now on, without a look at what is there.
    ///   - passing: how many records that the subscriber has already one step passes over; then it ends, with `.empty`.
    package init(_ area: RingArea, after: UInt64, atTail: Bool = false, passing: Int = 65_536) {
        (self.area, self.passing) = (area, passing)
        (intentWord, tailWord, endWord) = (
            UnsafeRawPointer(area.intent), UnsafeRawPointer(area.tail), UnsafeRawPointer(area.end)
        )
        data = UnsafeRawPointer(area.data)
        capacity = UInt64(area.header.capacity)
        maximumPayload = RingLayout.maximumPayload(area.header.capacity)
        sizes = area.header.events.map { $0.rawSize ?? -1 }
        // Room for the largest record: a quarter of the capacity, and never much more than 1 MiB.
        bufferSize = max(RingLayout.recordSize(maximumPayload), min(Self.batch, area.header.capacity))
        buffer = .allocate(byteCount: bufferSize, alignment: 8)
        sequence = after
        lastRecord = area.header.base
        if atTail {
            // Whatever its value: it is checked when something is read there.
            knownTail = relay_load_acquire(tailWord)
            (position, bufferStart, filled) = (knownTail, knownTail, knownTail)
        }
    }
    deinit { buffer.deallocate() }

    /// Whether a step would find anything but `empty`: looks, and copies nothing. False after `ended` was returned.
    package var hasNews: Bool {
        if position != filled || fault != nil { return true }
        return relay_load_acquire(tailWord) != position || (!hasEnded && relay_load_acquire(endWord) != 0)
    }
    /// How many bytes the writer is ahead.
    package var lag: UInt64 { relay_load_acquire(tailWord) &- position }
    /// Looks up to where there is something to read now: `position` reaches it when all of that was read, or a step
    /// finds a fault. After a fault there is only the same fault.
    package mutating func look() throws(RingFault) -> UInt64 {
        if let fault { throw fault }
        do throws(RingFault) { return try checkedTail() } catch {
            fault = error
            throw error
        }
    }
    /// The tail, which never goes back behind one that was seen.
    @inline(__always) private mutating func checkedTail() throws(RingFault) -> UInt64 {
        let tail = relay_load_acquire(tailWord)
        guard tail >= knownTail, tail % 8 == 0 else { throw RingFault(.tail(tail), at: position) }
        knownTail = tail
        return tail
    }

    /// Gives up what is there, and goes on at the present tail: the next record shows what was lost.
    package mutating func skip() throws(RingFault) {
        if let fault { throw fault }
        do throws(RingFault) {
            let tail = try checkedTail()
            if tail == position { return }
            (position, bufferStart, filled) = (tail, tail, tail)
            wasLapped = true
        } catch {
            fault = error
            throw error
        }
    }
    /// Takes the next step. After a fault there is only the same fault.
    package mutating func next() throws(RingFault) -> RingReader.Next {
        if let fault { throw fault }
        do throws(RingFault) { return try step() } catch {
            fault = error
            throw error
        }
    }

    private mutating func step() throws(RingFault) -> RingReader.Next {
        var needed = RingLayout.recordHeader
        var (attempt, passed) = (0, 0)
        while true {
            if filled &- position >= UInt64(needed) {
                let record = buffer + Int(position &- bufferStart)
                // Private memory: what is checked here is what is used below.
                let first = record.load(as: UInt64.self)
                let length = UInt32(truncatingIfNeeded: first)
                guard Int(length) <= maximumPayload else { throw RingFault(.length(length), at: position) }
                needed = RingLayout.recordSize(Int(length))
                if filled &- position >= UInt64(needed) {
                    if let step = try take(record, Int(length), UInt32(first >> 32), needed) { return step }
                    needed = RingLayout.recordHeader
                    passed += 1
                    if passed > passing { return .empty }
                    continue
                }
            }
            switch try fill(needed) {
            case .some(true): break
            case .none: return try nothing()
            case .some(false):
                // The header that `needed` comes from may be gone, too.
                needed = RingLayout.recordHeader
                attempt += 1
                // The writer is faster than copying: later, then. The caller's loop must have its turns.
                if attempt > Self.attempts { return .empty }
                try jump(attempt)
            }
        }
    }
    /// Copies what is there, at least `needed` bytes. Returns false when lapped, nil when there is nothing.
    private mutating func fill(_ needed: Int) throws(RingFault) -> Bool? {
        let tail = try checkedTail()
        if tail == position { return nil }
        let available = tail - position
        if available > capacity { return false }
        // The tail is at the end of a record.
        guard available >= UInt64(needed) else { throw RingFault(.tail(tail), at: position) }
        let count = min(Int(available), max(needed, min(Self.batch, bufferSize)))
        relay_load_words(buffer, data + Int(position & (capacity - 1)), count / 8)
        // A writer that overwrote any of these bytes had announced it before: see RecordWriter.
        relay_fence_acquire()
        let intent = relay_load(intentWord)
        guard intent >= tail, intent % 8 == 0 else { throw RingFault(.intent(intent), at: position) }
        if intent - position > capacity { return false }
        if needed > RingLayout.recordHeader {
            // The record was not overwritten, so it has the length for which it was copied. One that grows would be
            // copied again and again.
            let length = buffer.load(as: UInt32.self)
            guard RingLayout.recordSize(Int(length)) <= needed else {
                throw RingFault(.length(length), at: position)
            }
        }
        (bufferStart, filled) = (position, position + UInt64(count))
        return true
    }
    /// Goes on at the oldest record that is safe now; at each further attempt farther ahead of the writer.
    private mutating func jump(_ attempt: Int) throws(RingFault) {
        let tail = try checkedTail()
        let intent = relay_load(intentWord)
        guard intent >= tail else { throw RingFault(.intent(intent), at: position) }
        let margin = capacity / 16 * UInt64(attempt - 1)
        let safe = intent > capacity ? intent - capacity + margin : 0
        var best = tail
        for entry in 0..<RingLayout.indexCount {
            let start = relay_load(area.index + 8 * entry)
            if start >= safe, start > position, start < best, start % 8 == 0 { best = start }
        }
        (position, bufferStart, filled) = (best, best, best)
        wasLapped = true
    }
    /// Checks a whole record in private memory. Returns nil for one that lies before the subscriber's position.
    private mutating func take(_ record: UnsafeMutableRawPointer, _ length: Int, _ kindWord: UInt32, _ size: Int)
        throws(RingFault) -> RingReader.Next?
    {
        let isTooLarge = kindWord & RingLayout.skipped != 0
        let kind = Int(kindWord & ~RingLayout.skipped)
        guard kind < sizes.count else { throw RingFault(.kind(kindWord), at: position) }
        let fixed = isTooLarge ? 0 : sizes[kind]
        guard fixed < 0 || fixed == length else { throw RingFault(.length(UInt32(length)), at: position) }
        let number = record.load(fromByteOffset: 8, as: UInt64.self)
        let previous = record.load(fromByteOffset: 16, as: UInt64.self)
        let time = record.load(fromByteOffset: 24, as: UInt64.self)
        guard number > lastRecord else { throw RingFault(.sequence(number), at: position) }
        guard previous < number else { throw RingFault(.previous(previous), at: position) }
        if number > sequence {
            if number &- sequence > 1 {
                // The record stays where it is, for the next step.
                let range = (sequence + 1)...(number - 1)
                sequence = number - 1
                defer { wasLapped = false }
                return wasLapped ? .lapped(range) : .absent(range)
            }
            sequence = number
            position += UInt64(size)
            (lastRecord, wasLapped) = (number, false)
            payload = UnsafeRawBufferPointer(start: record + RingLayout.recordHeader, count: length)
            let stamp = Stamp(
                epoch: area.header.epoch, sequence: number, previous: previous,
                publishedAt: Timestamp(microseconds: time))
            return isTooLarge ? .tooLarge(kind, stamp) : .record(kind, stamp)
        }
        position += UInt64(size)
        (lastRecord, wasLapped) = (number, false)
        return nil
    }
    private mutating func nothing() throws(RingFault) -> RingReader.Next {
        if position == 0, sequence < area.header.base {
            defer { sequence = area.header.base }
            return .absent((sequence + 1)...area.header.base)
        }
        guard relay_load_acquire(endWord) != 0 else { return .empty }
        // What was published before the end is visible now, if it was not a moment ago: that is for the next step.
        if relay_load_acquire(tailWord) != position { return .empty }
        hasEnded = true
        return .ended
    }
}

extension RingReader {
    /// What a reader found next in its ring.
    package enum Next: Hashable, Sendable {
        /// An event, by its number in the ring's list. Its payload is the reader's, until the next step.
        case record(Int, Stamp)
        /// An event that was too large for the ring: it is on another transport, or nowhere.
        case tooLarge(Int, Stamp)
        /// These were in the ring, and the writer has overwritten them before they were read.
        case lapped(ClosedRange<UInt64>)
        /// These never were in the ring.
        case absent(ClosedRange<UInt64>)
        /// Nothing for now: all that was published has been read, or the reader's `hasNews` shows that a further step
        /// is due.
        case empty
        /// All has been read, and nothing follows.
        case ended
    }
}
