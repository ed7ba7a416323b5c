import RelayCore

/// The writer's upkeep when no work waits: retention, and small files.
struct Maintenance {
    /// So many events are removed at a time: about a millisecond.
    static let stepRows = 1_000
    /// Pages of a WAL that is worth a checkpoint: 4 MiB.
    static let checkpointPages = 1_000
    /// Pages of a WAL that a check of the whole file may hold: 256 MiB.
    static let checkPages = 65_536
    /// The same on a disk that is nearly full: what a checkpoint may need is in the reserve then.
    static let nearPages = 128
    /// The file system is checked again when the WAL has changed by so many.
    static let lookPages = 32
    /// Pages that are given back at a time.
    static let vacuumPages: Int64 = 256

    /// What the WAL holds, as of the last commit.
    var walPages = 0
    var nextCheckpoint = checkpointPages
    /// The monotonic time before which there is no upkeep, unless a service is open: its start does not wait until a
    /// log that was left over is moved, or free pages of a large file are given back.
    var begin: UInt64 = 0
    /// What the WAL has to hold for a notice.
    var nextNotice = noticePages
    /// 64 MiB.
    static let noticePages = 16_384
    /// What the WAL held when the file system was checked, and whether it was nearly full.
    var lookedAt = 0
    var isNear = false
    /// Small excesses are gathered for a while: each step costs an fsync.
    var nextStep: UInt64 = 0
    static let pause: UInt64 = 200_000_000
    /// Whether pages may have become free since the last check.
    var hasFreed = true
    /// Of the monotonic clock.
    var nextReserve: UInt64 = 0
    /// The `elapsed` of the retention's clock that the file has, if that is known, and what of its marks is not there
    /// yet.
    var savedElapsed: UInt64?
    var unsavedMarks: [(interface: Int64, mark: EventAges.Mark)] = []
}

extension JournalEngine {
    /// Does a little of what is to be done; returns when to come again: 0 for at once, `.max` for not before there was
    /// work.
    ///
    /// - Parameter isIdle: no work waits.
    func maintain(isIdle: Bool) -> UInt64 {
        if failure != nil { return .max }
        relieveIfStarved()
        checkpointIfLarge()
        if failure != nil { return .max }
        let now = MonotonicClock.now
        if now < maintenance.begin { return maintenance.begin }
        var next = UInt64.max
        if isStarved {
            if now >= maintenance.nextReserve {
                isStarved = !reserve.make()
                maintenance.nextReserve = now + 1_000_000_000
            }
            if isStarved { next = maintenance.nextReserve }
        }
        if !isStarved && trouble != nil {
            if now >= maintenance.nextReserve {
                probe()
                if failure != nil { return .max }
                maintenance.nextReserve = now + 1_000_000_000
            }
            if trouble != nil { next = maintenance.nextReserve }
        }
        readClock()
        for index in interfaces.indices {
            switch interfaces[index].urgency(at: clock.elapsed) {
            case .none(let until): next = min(next, Self.time(of: until, now, clock.elapsed))
            case .some where !isIdle || now < maintenance.nextStep, .step where !isIdle:
                next = min(next, max(maintenance.nextStep, now + 1_000_000))
            case .some, .step, .overdue:
                // One that fails is tried again, but not at once.
                next = prune(index, interfaces[index].rule) ? 0 : min(next, now + 1_000_000_000)
                maintenance.nextStep = now + Maintenance.pause
                if next == 0 { return 0 }
            }
        }
        if isIdle && maintenance.hasFreed && !isStarved {
            maintenance.hasFreed = vacuum(above: 10)
            if maintenance.hasFreed { return 0 }
        }
        return next
    }
    /// When there will be something for `maintain` to do, after a commit with no work behind it; does nothing of it.
    func nextMaintenance() -> UInt64 {
        if failure != nil { return .max }
        if isStarved || wantsCheckpoint() { return 0 }
        let (now, elapsed) = (MonotonicClock.now, elapsed)
        var next = trouble != nil ? maintenance.nextReserve : UInt64.max
        for index in interfaces.indices {
            switch interfaces[index].urgency(at: elapsed) {
            case .none(let until): next = min(next, Self.time(of: until, now, elapsed))
            case .some: next = min(next, maintenance.nextStep)
            case .step, .overdue: return 0
            }
        }
        return next
    }
    /// When there will be something for `maintain` to do; nil when there is now.
    func idleUntil() -> UInt64? {
        if maintenance.hasFreed { return nil }
        let due = nextMaintenance()
        return due > MonotonicClock.now ? due : nil
    }
    /// The monotonic clock's time for one of the retention's. Within a minute all clocks are read again.
    private static func time(of until: UInt64?, _ now: UInt64, _ elapsed: UInt64) -> UInt64 {
        guard let until else { return .max }
        return now + min(until - min(until, elapsed), 60_000_000) * 1_000 + 1_000_000
    }

    /// Removes the oldest events that are too many, up to a step's worth. Returns whether it could.
    private func prune(_ index: Int, _ rule: RetentionRule) -> Bool {
        if secureIfNeeded() != nil { return false }
        let interface = interfaces[index]
        var pruned: [String: UInt64] = [:]
        var (count, bytes, removed): (Int, UInt64, UInt64) = (0, 0, 0)
        readClock()
        do {
            try sql.begin.run()
            var rows: [(schema: Int64, end: Int64, event: RetentionRule.Oldest)] = []
            try sql.oldest.rows([.integer(interface.id)]) { row in
                rows.append(
                    (
                        row.schema, row.size > 0 ? row.place &+ row.size : 0,
                        .init(sequence: row.sequence, bytes: UInt64(bitPattern: row.length))
                    ))
            }
            let counters = interface.committed
            count = rule.excess(
                of: rows.prefix(Maintenance.stepRows).lazy.map(\.event), events: counters.events,
                bytes: counters.bytes,
                expired: interface.ages.expired(clock, head: counters.sequence) ?? 0)
            for row in rows.prefix(count) {
                if let name = interface.schemaNames[row.schema] { pruned[name] = row.event.sequence }
                bytes += row.event.bytes
            }
            if let end = rows.prefix(count).last(where: { $0.end > 0 })?.end {
                try sql.bodies.remove(before: min(end, counters.tail), of: interface.id)
            }
            // All before the first that stays: marks may be left of what was removed by hand.
            removed =
                rows.dropFirst(count).first.map { $0.event.sequence - min($0.event.sequence, 1) } ?? counters.sequence
            if let first = interface.ages.marks.first, first.sequence <= removed {
                try sql.unmark.run(.integer(interface.id), .integer(Int64(bitPattern: removed)))
            }
            if let last = rows.prefix(count).last {
                try sql.delete.run(.integer(interface.id), .integer(Int64(bitPattern: last.event.sequence)))
                try pruneGaps(of: interface, through: removed, &pruned)
                for (name, sequence) in pruned {
                    try sql.pruned.run(.integer(Int64(bitPattern: sequence)), .integer(interface.id), .text(name))
                }
                try sql.counters.run(
                    .integer(Int64(bitPattern: counters.sequence)),
                    .integer(Int64(bitPattern: counters.events - min(UInt64(count), counters.events))),
                    .integer(Int64(bitPattern: counters.bytes - min(bytes, counters.bytes))), .integer(counters.tail),
                    .integer(interface.id),
                    .integer(Int64(bitPattern: counters.sequence)))
                try checkAlone()
                try writeTimes(of: [], at: clock.elapsed)
            }
        } catch {
            rollBack()
            if error.isContradiction { _ = consequence(ofOwn: error) }
            return false
        }
        faults.at?(.pruning)
        do { try commitTransaction() } catch { return false }
        timesWereCommitted()
        interfaces[index].wasPruned(events: UInt64(count), bytes: bytes, upTo: removed, clock)
        if !pruned.isEmpty {
            maintenance.hasFreed = true
            interface.logged.stream.pruned(pruned)
        }
        return true
    }

    /// Gaps before the first event that stays: of whatever name events were there, they are gone.
    private func pruneGaps(
        of interface: InterfaceState, through removed: UInt64, _ pruned: inout [String: UInt64]
    ) throws(SQLiteError) {
        guard interface.hasGaps else { return }
        let (id, through) = (SQLValue.integer(interface.id), SQLValue.integer(Int64(bitPattern: removed)))
        guard let last = try sql.lastGap.integers(id, through)?.first, last > 0 else { return }
        try sql.removeGaps.run(id, through)
        for name in try EngineStatements.names(of: interface.id, on: database) {
            pruned[name.name] = max(pruned[name.name] ?? 0, name.pruned, UInt64(bitPattern: last))
        }
    }

    /// Gives free pages back, a step's worth, where more than so many percent of the file are free: fewer are soon used
    /// again. Returns whether more is to be done.
    private func vacuum(above percent: Int64) -> Bool {
        guard let pages = try? sql.pages.integers(), pages.count == 2 else { return false }
        let free = pages[0] - pages[1] * percent / 100
        if free < (percent > 0 ? Maintenance.vacuumPages : 1) || secureIfNeeded() != nil { return false }
        faults.at?(.vacuuming)
        do throws(SQLiteError) {
            try database.execute("PRAGMA incremental_vacuum(\(min(free, Maintenance.vacuumPages)))")
            return true
        } catch {
            failIfUnsynced(error)
            return false
        }
    }
    /// Whether the WAL is worth a checkpoint. Looks at the file system now and then.
    private func wantsCheckpoint() -> Bool {
        if maintenance.walPages >= maintenance.nextCheckpoint {
            return maintenance.begin == 0 || maintenance.begin <= MonotonicClock.now
        }
        if maintenance.walPages < Maintenance.nearPages { return false }
        if abs(maintenance.walPages - maintenance.lookedAt) >= Maintenance.lookPages {
            (maintenance.lookedAt, maintenance.isNear) = (maintenance.walPages, reserve.isNear)
        }
        return maintenance.isNear
    }
    private func checkpointIfLarge() {
        // Where nothing can be written, a checkpoint cannot help.
        if !wantsCheckpoint() || trouble.map({ !$0.isFull }) ?? false { return }
        // The check's transaction keeps the WAL from being used from the front again.
        if maintenance.walPages >= Maintenance.checkPages || maintenance.isNear { check?.giveWay() }
        // Not once more before the next look.
        maintenance.isNear = false
        guard let (held, copied) = checkpoint(.passive) else {
            maintenance.nextCheckpoint = maintenance.walPages + Maintenance.checkpointPages
            return
        }
        reportGrowth(held: held, copied: copied)
        // The next commit begins at the front again, unless a reader still needs what is there.
        maintenance.nextCheckpoint = (held == copied ? 0 : held) + Maintenance.checkpointPages
        if held == copied { maintenance.walPages = 0 }
    }

    /// After a checkpoint: a reader may keep the WAL from being reused.
    private func reportGrowth(held: Int, copied: Int) {
        if held == copied { maintenance.nextNotice = Maintenance.noticePages }
        // A check gives way by itself.
        let isChecking = check.map { $0.outcome == nil } ?? false
        if held == copied || held < maintenance.nextNotice || isChecking { return }
        maintenance.nextNotice = held * 2
        notices.report(
            .walGrows, .warning,
            "\(file.path)-wal has \(DiskRoom.text(file.walSize)), and cannot be used anew while somebody reads in one transaction: end a "
                + "backup or an sqlite3 that has been open for long")
    }

    /// After a commit that found the disk full: gives the reserve back, and makes room with it. (Never a leader's task:
    /// none leads before `maintain` has done it.)
    func relieveIfStarved() {
        if isStarved && reserve.isThere { relieve() }
    }
    private func relieve() {
        reserve.release()
        maintenance.nextReserve = MonotonicClock.now + 1_000_000_000
        // Each may fail: what is not done now is done when there is room.
        _ = checkpoint(.truncate)
        if failure != nil { return }
        for index in interfaces.indices where failure == nil {
            let rule = interfaces[index].rule
            for _ in 0..<64 {
                if case .none = interfaces[index].urgency(at: elapsed) { break }
                if !prune(index, rule) { break }
            }
        }
        for _ in 0..<64 where !vacuum(above: 0) { break }
        if failure == nil { _ = checkpoint(.truncate) }
    }
}
