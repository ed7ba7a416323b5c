import RelayCore

/// What the writer knows of one interface of the service.
struct InterfaceState {
    /// What a transaction changes, and its rollback restores.
    struct Counters {
        var sequence: UInt64
        /// The last sequence of each event, by its number.
        var last: [UInt64]
        /// How much is kept.
        var events: UInt64
        var bytes: UInt64
        /// Where its long bodies end.
        var tail: Int64
    }
    struct Name {
        let text: String
        /// For SQLite, which borrows it; lives as long as the journal.
        let bytes: UnsafeBufferPointer<CChar>
        let schema: Int64
    }
    let id: Int64
    let logged: LoggedInterface
    let rule: RetentionRule
    let names: [Name]
    /// Those of all events that rows may have, by their schemas.
    let schemaNames: [Int64: String]
    /// As the transaction that runs has it.
    var counters: Counters
    /// As it is on disk.
    private(set) var committed: Counters
    /// Which names' `last` the transaction has to write; and whether there is anything at all.
    private(set) var touched: [Int] = []
    private var isTouched: [Bool]
    /// Whether the transaction changes anything.
    private(set) var isDirty = false
    /// The sequences that the transaction leaves out, and how many events come before them.
    private(set) var skips: [(events: Int, gap: ClosedRange<UInt64>)] = []
    /// What the transaction is to emit.
    var emissions: [(event: LoggedEvent, stamp: Stamp)] = []
    /// How many of these have no rows yet: the last ones.
    var unwritten = 0
    let tail = BodyTail()
    /// How old the events are that are kept.
    var ages: EventAges
    /// What the transaction adds to that.
    var mark: EventAges.Mark?

    /// Whether rows of gaps may be there.
    var hasGaps: Bool

    init(
        id: Int64, logged: LoggedInterface, names: [Name], schemaNames: [Int64: String], counters: Counters,
        ages: EventAges, hasGaps: Bool
    ) {
        (self.id, self.logged, self.names, self.counters) = (id, logged, names, counters)
        (self.schemaNames, self.hasGaps) = (schemaNames, hasGaps)
        (committed, self.ages) = (counters, ages)
        rule = RetentionRule(logged.retention)
        isTouched = [Bool](repeating: false, count: names.count)
    }

    /// The journal never has what is between the last event and the next one.
    mutating func skip(through last: UInt64) {
        guard last > counters.sequence else { return }
        skips.append((emissions.count, counters.sequence + 1...last))
        (isDirty, hasGaps, counters.sequence) = (true, true, last)
        // An event of any name may be there.
        for name in counters.last.indices { counters.last[name] = last }
    }
    mutating func takeSkips() -> [(events: Int, gap: ClosedRange<UInt64>)] {
        defer { skips = [] }
        return skips
    }
    /// Gives the next event its place.
    mutating func append(_ event: consuming LoggedEvent, at time: UInt64) {
        let name = event.index
        let stamp = Stamp(
            epoch: logged.epoch, sequence: counters.sequence + 1, previous: counters.last[name],
            publishedAt: Timestamp(microseconds: time))
        event.enter(stamp)
        counters.sequence = stamp.sequence
        counters.last[name] = stamp.sequence
        counters.events += 1
        counters.bytes += UInt64(event.body.count)
        if !isTouched[name] {
            isTouched[name] = true
            touched.append(name)
        }
        isDirty = true
        emissions.append((event, stamp))
        unwritten += 1
    }
    /// - Parameter elapsed: as `RetentionClock` has it.
    mutating func wasCommitted(at elapsed: UInt64) {
        // One by one: as a whole, the two would have their memory in common, and the next event would copy it.
        for name in touched { committed.last[name] = counters.last[name] }
        if !skips.isEmpty { committed.last = counters.last }
        (committed.sequence, committed.events, committed.bytes) = (counters.sequence, counters.events, counters.bytes)
        committed.tail = counters.tail
        ages.committed(mark, at: elapsed, head: committed.sequence)
        mark = nil
        untouch()
    }
    mutating func wasRolledBack() {
        counters = committed
        (emissions, unwritten, mark, skips) = ([], 0, nil, [])
        tail.forget()
        untouch()
    }
    /// How urgently something is to be removed.
    ///
    /// - Parameter elapsed: as `RetentionClock` has it.
    func urgency(at elapsed: UInt64) -> RetentionRule.Urgency {
        rule.urgency(
            events: committed.events, bytes: committed.bytes, expiry: committed.events > 0 ? ages.expiry : nil,
            now: elapsed)
    }
    /// - Parameter last: the last sequence that went.
    mutating func wasPruned(events: UInt64, bytes: UInt64, upTo last: UInt64, _ clock: RetentionClock) {
        committed.events -= min(events, committed.events)
        committed.bytes -= min(bytes, committed.bytes)
        counters = committed
        ages.removed(upTo: last)
        update(clock)
    }
    /// When events reach their age, by what is known now.
    mutating func update(_ clock: RetentionClock) {
        ages.update(clock, head: committed.sequence, isEmpty: committed.events == 0)
    }
    private mutating func untouch() {
        for name in touched { isTouched[name] = false }
        touched.removeAll(keepingCapacity: true)
        isDirty = false
    }
}
