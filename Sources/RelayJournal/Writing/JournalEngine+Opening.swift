import RelayCore
import RelayWire

extension JournalEngine {
    /// Takes a service's interfaces in, and begins a run of each.
    func open(_ logged: [LoggedInterface], _ encoder: any EventEncoder) throws -> [(LogSnapshot, InterfaceState)] {
        if self.encoder != nil {
            throw RelayError(.conflict, "\(file.path) has a service already: make another journal for this one")
        }
        if failure != nil { throw unavailable() }
        if let refusal = secureIfNeeded() { throw refusal }
        do {
            return try begin(logged, encoder)
        } catch .storageFull where reserve.isThere {
            // A service that only reads is better than none.
            reserve.release()
            return try begin(logged, encoder)
        }
    }
    private func begin(
        _ logged: [LoggedInterface], _ encoder: any EventEncoder
    ) throws -> [(LogSnapshot, InterfaceState)] {
        replicaRetention == nil ? try take(logged, encoder) : try attach(logged, encoder)
    }
    private func take(
        _ logged: [LoggedInterface], _ encoder: any EventEncoder
    ) throws -> [(LogSnapshot, InterfaceState)] {
        var opened: [(LogSnapshot, InterfaceState)] = []
        do {
            try sql.begin.run()
            readClock()
            try saveClock()
            for interface in logged { opened.append(try enter(interface)) }
        } catch {
            rollBack()
            for (_, interface) in opened { for name in interface.names { name.bytes.deallocate() } }
            if let error = error as? SQLiteError { throw consequence(of: error) }
            throw error
        }
        try commitTransaction()
        (self.encoder, interfaces) = (encoder, opened.map { $0.1 })
        maintenance.begin = 0
        file.marks.dropClean()
        return opened
    }
    /// Looked at before the file was written; but another program may have been at it since.
    func check(_ row: InterfaceRow) throws(RelayError) {
        let isPossible = [row.sequence, row.events, row.bytes].allSatisfy { 0...JournalExamination.limit ~= $0 }
        guard isPossible, row.events <= row.sequence, JournalExamination.hasPossibleBodies(row) else {
            throw file.damaged("\(row.name) has counters that cannot be")
        }
    }
    private func enter(_ logged: LoggedInterface) throws -> (LogSnapshot, InterfaceState) {
        try database.prepare(
            "INSERT INTO relay_interfaces (name, sequence, events, bytes, tail) VALUES (?, 0, 0, 0, 0) "
                + "ON CONFLICT DO NOTHING"
        ).run(.text(logged.name))
        var found: InterfaceRow?
        try database.prepare("SELECT \(InterfaceRow.columns) FROM relay_interfaces WHERE name = ?")
            .rows([.text(logged.name)]) { found = InterfaceRow($0) }
        guard let row = found else { throw RelayError(.internalFailure, "\(file.path) did not take \(logged.name)") }
        try check(row)
        let (id, sequence) = (row.id, UInt64(row.sequence))

        let (schemas, numbers) = try enterSchemas(of: logged, id)
        for event in logged.events {
            try database.prepare("INSERT INTO relay_names VALUES (?, ?, 0, 0) ON CONFLICT DO NOTHING")
                .run(.integer(id), .text(event.event))
        }
        var (last, pruned): ([String: UInt64], [String: UInt64]) = ([:], [:])
        try database.prepare(NameRow.query).rows([.integer(id)]) { row in
            let row = NameRow(row)
            (last[row.name], pruned[row.name]) = (row.last, row.pruned)
        }
        let lastOwn = last
        let gaps = try sql.gaps.newest(of: id, most: Self.knownGaps)
        // An event of whatever name may be in a gap: for a subscriber, its last one is not before that.
        last = last.mapValues { max($0, gaps.last?.upperBound ?? 0) }
        for (name, sequence) in pruned { last[name] = max(last[name] ?? 0, sequence) }
        let rows = sql.runs
        try rows.begin(StreamRun(epoch: logged.epoch, first: sequence + 1), of: id, isOpen: logged.isOpen)
        let runs = try rows.recent(of: id, most: Self.knownRuns)
        let ages = try loadAges(id, head: sequence, events: UInt64(row.events), RetentionRule(logged.retention))

        let names = logged.events.map { event in
            InterfaceState.Name(event.event, schema: numbers[event.event] ?? 0)
        }
        let counters = InterfaceState.Counters(
            sequence: sequence, last: logged.events.map { last[$0.event] ?? 0 }, events: UInt64(row.events),
            bytes: UInt64(row.bytes), tail: row.tail)
        return (
            LogSnapshot(
                head: sequence, last: last.filter { $0.value > 0 }, pruned: pruned.filter { $0.value > 0 },
                runs: runs.runs, schemas: schemas, documents: try documents(of: logged, id, lastOwn),
                sample: runs.sample, journal: try rows.identity(), gaps: gaps),
            InterfaceState(
                id: id, logged: logged, names: names,
                schemaNames: schemas.reduce(into: [:]) { $0[Int64($1.key)] = $1.value.event },
                counters: counters, ages: ages, hasGaps: !gaps.isEmpty)
        )
    }
    /// So many of the newest runs, and gaps, are known without a look at the disk.
    static let knownRuns = 64
    static let knownGaps = 1_024
}
