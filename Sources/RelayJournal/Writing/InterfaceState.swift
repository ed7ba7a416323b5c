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
    /// As the transaction that runs has it.
    var counters: Counters
    /// As it is on disk.
    private(set) var committed: Counters
    /// Which names' `last` the transaction has to write; and whether there is anything at all.
    private(set) var touched: [Int] = []
    private var isTouched: [Bool]
    /// What the transaction is to emit.
    var emissions: [CommittedEvent] = []
    /// The times of the last of these, which have no rows yet.
    var unwritten: [UInt64] = []
    /// How old the events are that are kept.
    var ages: EventAges
    /// What the transaction adds to that.
    var mark: EventAges.Mark?

    init(id: Int64, logged: LoggedInterface, names: [Name], counters: Counters, ages: EventAges) {
        (self.id, self.logged, self.names, self.counters) = (id, logged, names, counters)
        (committed, self.ages) = (counters, ages)
        rule = RetentionRule(logged.retention)
        isTouched = [Bool](repeating: false, count: names.count)
    }

    /// Gives the next event its place, and its body the stamp.
    mutating func append(_ event: Int, _ body: consuming EventBody, at time: UInt64) {
        let sequence = counters.sequence + 1
        body.stamp(sequence, previous: counters.last[event], at: time)
        counters.sequence = sequence
        counters.last[event] = sequence
        counters.events += 1
        counters.bytes += UInt64(body.bytes.count)
        if !isTouched[event] {
            isTouched[event] = true
            touched.append(event)
        }
        emissions.append(CommittedEvent(event: event, sequence: sequence, body: body))
        unwritten.append(time)
    }
    /// - Parameter elapsed: as `RetentionClock` has it.
    mutating func wasCommitted(at elapsed: UInt64) {
        committed = counters
        ages.committed(mark, at: elapsed, head: committed.sequence)
        mark = nil
        untouch()
    }
    mutating func wasRolledBack() {
        counters = committed
        (emissions, unwritten, mark) = ([], [], nil)
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
    }
}
