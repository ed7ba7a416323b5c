import RelayCore
import RelayWire

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

        init(_ text: String, schema: Int64) {
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count)
            _ = copy.initialize(from: text.utf8.lazy.map { CChar(bitPattern: $0) })
            (self.text, bytes, self.schema) = (text, UnsafeBufferPointer(copy), schema)
        }
    }
    let id: Int64
    var logged: LoggedInterface
    let rule: RetentionRule
    private(set) var names: [Name]
    /// Those of all events that rows may have, by their schemas.
    private(set) var schemaNames: [Int64: String]
    /// Of a mirror's journal only: as the transaction that runs has it, and as it is on disk.
    private(set) var replica: ReplicaParts?
    private var committedReplica: ReplicaParts?
    /// Of a mirror's journal: the service that is attached.
    var served: ServedReplica?
    /// The transaction that runs has made its row.
    var isNew = false
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
    /// Those of them that have no rows yet.
    private(set) var unwrittenGaps: [ClosedRange<UInt64>] = []
    /// What the transaction is to emit.
    var emissions: [(event: LoggedEvent, stamp: Stamp)] = []
    /// How many of these have no rows yet: the last ones.
    var unwritten = 0
    let tail = BodyTail()
    /// How old the events are that are kept.
    var ages: EventAges
    /// What the transaction adds to that.
    var mark: EventAges.Mark?
    /// What it was before the transaction removed events above a sequence.
    private var agesBefore: EventAges?

    /// Whether rows of gaps may be there.
    var hasGaps: Bool

    init(
        id: Int64, logged: LoggedInterface, names: [Name], schemaNames: [Int64: String], counters: Counters,
        ages: EventAges, hasGaps: Bool, rule: RetentionRule? = nil, replica: ReplicaParts? = nil
    ) {
        (self.id, self.logged, self.names, self.counters) = (id, logged, names, counters)
        (self.schemaNames, self.hasGaps) = (schemaNames, hasGaps)
        (committed, self.ages) = (counters, ages)
        self.rule = rule ?? RetentionRule(logged.retention)
        (self.replica, committedReplica) = (replica, replica)
        isTouched = [Bool](repeating: false, count: names.count)
    }

    /// The journal never has what is between the last event and the next one.
    mutating func skip(through last: UInt64) {
        guard last > counters.sequence else { return }
        skips.append((emissions.count, counters.sequence + 1...last))
        unwrittenGaps.append(counters.sequence + 1...last)
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

    // MARK: Of a replica

    mutating func noteChange() { isDirty = true }
    /// What a replica changes by itself, beside the counters.
    mutating func changeReplica(_ change: (inout ReplicaParts) -> Void) {
        isDirty = true
        if var parts = replica {
            // Alone there, so that nothing is copied.
            replica = nil
            change(&parts)
            replica = parts
        }
    }
    /// Another name: its place.
    mutating func add(_ name: Name, last: UInt64 = 0) -> Int {
        names.append(name)
        counters.last.append(last)
        isTouched.append(false)
        return names.count - 1
    }
    /// How rows of a schema's number are laid out.
    mutating func setLayout(_ layout: ReplicaParts.Layout, _ number: UInt32) {
        changeReplica { $0.layouts[number] = layout }
        schemaNames[Int64(number)] = layout.schema.event
    }
    /// The last event of a name has changed.
    mutating func touch(_ name: Int) {
        isDirty = true
        if isTouched[name] { return }
        isTouched[name] = true
        touched.append(name)
    }
    /// A gap whose row is there. It leaves in its place among the events.
    mutating func leaveOut(_ gap: ClosedRange<UInt64>) {
        if served != nil { skips.append((emissions.count, gap)) }
        (isDirty, hasGaps, counters.sequence) = (true, true, gap.upperBound)
    }
    /// What is above a sequence was removed.
    mutating func cutAges(to sequence: UInt64) {
        if agesBefore == nil { agesBefore = ages }
        ages.cut(to: sequence)
    }

    // MARK: The transaction's end

    /// - Parameter elapsed: as `RetentionClock` has it.
    mutating func wasCommitted(at elapsed: UInt64) {
        if !skips.isEmpty || replica != nil {
            committed.last = counters.last
        } else {
            // One by one: as a whole, the two would have their memory in common, and the next event would copy it.
            for name in touched { committed.last[name] = counters.last[name] }
        }
        (committed.sequence, committed.events, committed.bytes) = (counters.sequence, counters.events, counters.bytes)
        committed.tail = counters.tail
        (committedReplica, agesBefore, isNew) = (replica, nil, false)
        ages.committed(mark, at: elapsed, head: committed.sequence)
        mark = nil
        untouch()
    }
    mutating func wasRolledBack() {
        counters = committed
        (emissions, unwritten, mark, skips) = ([], 0, nil, [])
        tail.forget()
        untouch()
        if let agesBefore { (ages, self.agesBefore) = (agesBefore, nil) }
        guard let parts = committedReplica else { return }
        replica = parts
        schemaNames = parts.layouts.reduce(into: [:]) { $0[Int64($1.key)] = $1.value.schema.event }
        for name in names[committed.last.count...] { name.bytes.deallocate() }
        names.removeSubrange(committed.last.count...)
        isTouched.removeSubrange(committed.last.count...)
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
        if !unwrittenGaps.isEmpty { unwrittenGaps = [] }
        isDirty = false
    }
}
