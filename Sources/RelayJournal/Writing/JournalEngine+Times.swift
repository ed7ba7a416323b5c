import RelayCore

/// What the journal knows of time passing, in memory and in its tables.
extension JournalEngine {
    /// The retention clock's time now: cheap.
    var elapsed: UInt64 { clock.elapsed(at: faults.clock?().uptime ?? RetentionClock.Reading.uptime()) }

    /// Looks at all clocks, and at what that means for events' ages.
    func readClock() {
        let before = clock.trust
        clock.read(faults.clock?() ?? .now())
        for index in interfaces.indices {
            if clock.trust > before {
                let (id, improved) = (interfaces[index].id, interfaces[index].ages.improve(clock))
                maintenance.unsavedMarks += improved.map { (interface: id, mark: $0) }
            }
            interfaces[index].update(clock)
        }
    }
    /// Takes up what the last run has noted; at the start, so that ages count over runs also where no service follows.
    func loadClock() throws(SQLiteError) {
        try database.prepare("SELECT elapsed, boot_elapsed, boot, uptime, steps_since, offset FROM relay_clock")
            .rows([]) { row in
                clock = RetentionClock(
                    elapsed: UInt64(clamping: row.integer("elapsed")),
                    elapsedAtBoot: UInt64(clamping: row.integer("boot_elapsed")), boot: row.text("boot"),
                    uptime: UInt64(clamping: row.integer("uptime")),
                    stepsSince: UInt64(clamping: row.integer("steps_since")), offset: row.integer("offset"))
            }
        clock.read(faults.clock?() ?? .now())
    }
    /// The marks of an interface, and one for events that are far behind the last.
    func loadAges(_ id: Int64, head: UInt64, events: UInt64, _ rule: RetentionRule) throws(SQLiteError) -> EventAges {
        var marks: [EventAges.Mark] = []
        try database.prepare(
            "SELECT sequence, elapsed, time, trust FROM relay_ages WHERE interface = ? ORDER BY sequence"
        )
        .rows([.integer(id)]) { row in
            marks.append(
                EventAges.Mark(
                    sequence: UInt64(clamping: row.integer("sequence")),
                    moment: RetentionClock.Mark(
                        elapsed: UInt64(clamping: row.integer("elapsed")), wall: UInt64(clamping: row.integer("time")),
                        trust: RetentionClock.Trust(rawValue: Int(clamping: row.integer("trust"))) ?? .none)))
        }
        var ages = EventAges(marks, age: rule.age, last: clock.elapsed)
        // What has none is no older than this moment, as far as is known.
        if events > 0 && marks.last?.sequence ?? 0 < head && ages.wantsMark(clock) {
            let mark = EventAges.Mark(sequence: head, moment: clock.mark)
            try write(mark, of: id)
            ages.committed(mark, at: clock.elapsed, head: head)
            ages.oweMark()
        }
        for mark in ages.improve(clock) { try write(mark, of: id) }
        ages.update(clock, head: head, isEmpty: events == 0)
        return ages
    }
    /// Within a transaction, which `timesWereCommitted` follows: marks for events that are to have one, and now and
    /// then the clock.
    func writeTimes(of dirty: [Int], at elapsed: UInt64) throws(SQLiteError) {
        let marked = dirty.filter { interfaces[$0].ages.wantsMark(at: elapsed) }
        let isDue = maintenance.savedElapsed.map { elapsed - min($0, elapsed) > 60_000_000 } ?? true
        if !marked.isEmpty || isDue { readClock() }
        for index in marked {
            let mark = EventAges.Mark(sequence: interfaces[index].counters.sequence, moment: clock.mark)
            try write(mark, of: interfaces[index].id)
            interfaces[index].mark = mark
        }
        for (interface, mark) in maintenance.unsavedMarks { try write(mark, of: interface) }
        if !marked.isEmpty || !maintenance.unsavedMarks.isEmpty || isDue { try saveClock() }
    }
    func timesWereCommitted() { if !maintenance.unsavedMarks.isEmpty { maintenance.unsavedMarks = [] } }

    func write(_ mark: EventAges.Mark, of interface: Int64) throws(SQLiteError) {
        try sql.mark.run(
            .integer(interface), .integer(Int64(clamping: mark.sequence)),
            .integer(Int64(clamping: mark.moment.elapsed)),
            .integer(Int64(clamping: mark.moment.wall)), .integer(Int64(mark.moment.trust.rawValue)))
    }
    /// Within a transaction.
    func saveClock() throws(SQLiteError) {
        try sql.clock.run(
            .integer(Int64(clamping: clock.elapsed)), .text(clock.boot), .integer(Int64(clamping: clock.elapsedAtBoot)),
            .integer(Int64(clamping: clock.uptime)), .integer(Int64(clamping: clock.stepsSince)), .integer(clock.offset)
        )
        maintenance.savedElapsed = clock.elapsed
    }
}
