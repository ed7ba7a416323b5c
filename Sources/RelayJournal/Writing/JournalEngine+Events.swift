import CSQLite
import RelayCore

/// Events on their way through a group: into their places, into rows, onto the streams.
extension JournalEngine {
    /// Gives events their places. Returns why not: then the group is doomed, or nothing was done.
    func take(_ events: [EncodedEvent]) -> RelayError? {
        for event in events { if let error = fault(of: event) { return error } }
        for event in events { if let error = place(event) { return error } }
        return nil
    }
    func take(_ event: consuming EncodedEvent) -> RelayError? {
        if let error = fault(of: event) { return error }
        return place(event)
    }

    private func fault(of event: EncodedEvent) -> RelayError? {
        if case .several(let events) = event { return events.lazy.compactMap { self.fault(of: $0) }.first }
        guard case .durable(let interface, let event) = event else { return nil }
        let number = event.index
        if interfaces.indices.contains(interface) && interfaces[interface].names.indices.contains(number) { return nil }
        return RelayError(.internalFailure, "no event \(number) of interface \(interface) in \(file.path)")
    }
    private func place(_ event: consuming EncodedEvent) -> RelayError? {
        switch consume event {
        case .volatile(let body): group.volatile.append(body)
        case .several(let events): for event in events { if let error = place(event) { return error } }
        case .durable(let index, let event):
            if !interfaces[index].isDirty { group.dirty.append(index) }
            interfaces[index].append(event, at: group.time)
            if interfaces[index].unwritten < EngineStatements.rows[0] { return nil }
            do { try write(of: index) } catch {
                let error = consequence(ofOwn: error)
                group.doom = (error, error)
                return error
            }
        }
        return nil
    }
    /// Leaves sequences out, of an interface by its place.
    func skip(through last: UInt64, of index: Int) {
        if !interfaces[index].isDirty { group.dirty.append(index) }
        interfaces[index].skip(through: last)
    }
    /// Makes rows of the events that have none, by as few statements as can be.
    ///
    /// Whatever fails dooms the group. In a unit's savepoint, these may be events of units before it: nothing but doom
    /// undoes them, for a unit's events come after all that it does.
    private func write(of index: Int) throws(SQLiteError) {
        for (rows, insertion) in sql.inserts {
            while interfaces[index].unwritten >= rows {
                defer { insertion.statement.reset() }
                if let failure = step(insertion, rows, 0, index) { throw failure }
                interfaces[index].unwritten -= rows
            }
        }
    }
    /// Binds the rows from `row` on, and runs the statement when all are bound.
    private func step(_ insertion: EventInsertion, _ count: Int, _ row: Int, _ index: Int) -> SQLiteError? {
        if row == count {
            do throws(SQLiteError) { _ = try insertion.statement.step() } catch { return error }
            return nil
        }
        let written = interfaces[index].emissions.count - interfaces[index].unwritten
        let (event, stamp) = interfaces[index].emissions[written + row]
        // The run is within the call: the borrowed bytes are not read later.
        return event.body.withUnsafeBytes { bytes in
            var (place, size): (Int64?, Int) = (nil, 0)
            if bytes.count > BodyPages.whole {
                size = bytes.count - BodyPages.stamp
                let beginning = UnsafeRawBufferPointer(rebasing: bytes[..<size])
                do throws(SQLiteError) { place = try store(beginning, of: index) } catch { return error }
            }
            insertion.bind(
                stamp, interfaces[index].names[event.index].schema, of: interfaces[index].id, place: place,
                size: size, row: row)
            insertion.bind(borrowed: UnsafeRawBufferPointer(rebasing: bytes[size...]), row: row)
            return step(insertion, count, row + 1, index)
        }
    }
    /// Puts the beginning of a long body behind the others; returns where.
    private func store(_ body: UnsafeRawBufferPointer, of index: Int) throws(SQLiteError) -> Int64 {
        let (tail, id) = (interfaces[index].counters.tail, interfaces[index].id)
        let place = try interfaces[index].tail.add(body, behind: tail, of: id, sql.bodies)
        interfaces[index].counters.tail = place + Int64(body.count)
        return place
    }
    func commitGroup() throws(RelayError) {
        let elapsed = elapsed
        do throws(SQLiteError) {
            for index in group.dirty {
                try write(of: index)
                try interfaces[index].tail.write(sql.bodies)
                try writeCounters(of: interfaces[index])
            }
            try writeTimes(of: group.dirty, at: elapsed)
        } catch {
            rollBack()
            throw consequence(ofOwn: error)
        }
        faults.at?(.beforeCommit)
        try commitTransaction()
        for index in group.dirty { interfaces[index].wasCommitted(at: elapsed) }
        timesWereCommitted()
        faults.at?(.afterCommit)
    }
    func writeCounters(of interface: InterfaceState) throws(SQLiteError) {
        let counters = interface.counters
        let statement = sql.counters
        statement.bind(Int64(bitPattern: counters.sequence), at: 1)
        statement.bind(Int64(bitPattern: counters.events), at: 2)
        statement.bind(Int64(bitPattern: counters.bytes), at: 3)
        statement.bind(counters.tail, at: 4)
        statement.bind(interface.id, at: 5)
        statement.bind(Int64(bitPattern: interface.committed.sequence), at: 6)
        try runOnce(statement)
        try checkAlone()
        for gap in interface.unwrittenGaps { try write(gap, of: interface.id) }
        for name in interface.touched {
            let statement = sql.last
            statement.bind(Int64(bitPattern: counters.last[name]), at: 1)
            statement.bind(interface.id, at: 2)
            statement.bind(borrowed: interface.names[name].bytes, at: 3)
            try runOnce(statement)
            // A replica has written its own.
            if interface.replica == nil, interface.logged.documents.contains(name) {
                try writeDocument(name, of: interface)
            }
        }
    }
    func write(_ gap: ClosedRange<UInt64>, of interface: Int64) throws(SQLiteError) {
        try sql.addGap.run(
            .integer(interface), .integer(Int64(bitPattern: gap.upperBound)),
            .integer(Int64(bitPattern: gap.lowerBound)))
    }
    /// After an update of counters: whether they were as this journal left them.
    func checkAlone() throws(SQLiteError) {
        if database.changes == 1 { return }
        throw SQLiteError(
            code: SQLITE_CONSTRAINT, message: "the row in relay_interfaces is not the one that was written last")
    }
    private func runOnce(_ statement: Statement) throws(SQLiteError) {
        defer { statement.reset() }
        _ = try statement.step()
    }

    // MARK: What leaves

    private func emit(
        _ events: [(event: LoggedEvent, stamp: Stamp)], _ skips: [(events: Int, gap: ClosedRange<UInt64>)],
        to stream: any CommittedEventSink
    ) {
        var start = 0
        for skip in skips {
            if skip.events > start { stream.emit(Array(events[start..<skip.events])) }
            stream.skipped(skip.gap)
            start = skip.events
        }
        if start < events.count { stream.emit(Array(events[start...])) }
    }
    func emit() {
        var isFirst = true
        for index in group.dirty {
            let stream = interfaces[index].logged.stream
            let skips = interfaces[index].takeSkips()
            var events: [(event: LoggedEvent, stamp: Stamp)] = []
            swap(&events, &interfaces[index].emissions)
            if !skips.isEmpty {
                emit(events, skips, to: stream)
            } else if let at = faults.at {
                for event in events {
                    if !isFirst { at(.betweenEmissions) }
                    isFirst = false
                    stream.emit([event])
                }
            } else {
                stream.emit(events)
            }
            events.removeAll(keepingCapacity: true)
            swap(&events, &interfaces[index].emissions)
        }
        for send in group.volatile {
            if !isFirst { faults.at?(.betweenEmissions) }
            isFirst = false
            send()
        }
        faults.at?(.beforeResume)
    }
}
