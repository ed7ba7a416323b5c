import RelayCore
import RelayWire

/// A replica's transaction, within a group.
extension JournalEngine {
    /// All of it, or nothing. What fails after it was found to fit dooms the group.
    func apply(_ transaction: ReplicaTransaction) throws {
        do {
            var check = ReplicaCheck(self)
            for part in transaction.parts { try check.check(part) }
            for part in transaction.parts { try apply(part) }
        } catch let error as SQLiteError {
            let error = consequence(ofOwn: error)
            group.doom = (error, error)
            throw error
        }
    }
    private func apply(_ part: ReplicaTransaction.Part) throws {
        let index = try enterReplica(part.interface)
        if !interfaces[index].isDirty { group.dirty.append(index) }
        interfaces[index].noteChange()
        let id = interfaces[index].id
        if let keeps = part.keepsThrough, keeps < interfaces[index].counters.sequence {
            try truncate(index, to: keeps)
        }
        if let runs = part.runs { try sql.runs.replace(with: runs, of: id) }
        if let base = part.base, base > 0 { try begin(index, behind: base) }
        if let gap = part.gap {
            try write(gap, of: id)
            interfaces[index].leaveOut(gap)
        }
        for (number, schema) in part.schemas where number < Self.firstRepetition {
            if interfaces[index].replica?.layouts[number]?.schema == schema { continue }
            try own("DELETE FROM relay_schemas WHERE number = ? AND interface = ?").run(
                .integer(Int64(number)), .integer(id))
            try own("INSERT INTO relay_schemas (number, interface, name, fields) VALUES (?, ?, ?, ?)")
                .run(.integer(Int64(number)), .integer(id), .text(schema.event), .text(SchemaRow.text(schema.fields)))
            let name = try enter(schema.event, of: index)
            interfaces[index].setLayout(try .init(schema, name: name), number)
        }
        if let events = part.events { try add(events, to: index) }
        if let states = part.states {
            for name in states.last.keys { _ = try enter(name, of: index) }
            for document in states.documents { try take(document, states, part.schemas, of: index) }
        }
        if let state = part.state {
            try own("REPLACE INTO relay_mirror_states VALUES (?, ?)").run(.integer(id), .blob(state))
        }
    }
    /// The place of a name. What of a new one was before the oldest event that is there may have been removed.
    func enter(_ name: String, of index: Int) throws(SQLiteError) -> Int {
        if let place = interfaces[index].replica?.places[name] { return place }
        let floor = try floor(of: index)
        try own("INSERT INTO relay_names VALUES (?, ?, 0, ?)").run(
            .integer(interfaces[index].id), .text(name), .integer(Int64(bitPattern: floor)))
        let place = interfaces[index].add(InterfaceState.Name(name, schema: 0))
        interfaces[index].changeReplica { $0.places[name] = place }
        return place
    }
    /// The last sequence before those that are kept, and in gaps.
    func floor(of index: Int) throws(SQLiteError) -> UInt64 {
        let counters = interfaces[index].counters
        let gaps = interfaces[index].hasGaps ? try sql.gaps.count(of: interfaces[index].id) : 0
        let kept = counters.events &+ UInt64(bitPattern: gaps)
        return counters.sequence - min(kept, counters.sequence)
    }
    private func begin(_ index: Int, behind base: UInt64) throws(SQLiteError) {
        try own("UPDATE relay_names SET pruned = ? WHERE interface = ?").run(
            .integer(Int64(bitPattern: base)), .integer(interfaces[index].id))
        interfaces[index].counters.sequence = base
    }

    // MARK: Events

    /// Makes rows of events where they lie, by as few statements as can be.
    private func add(_ events: ReplicaEvents, to index: Int) throws(SQLiteError) {
        var documents: [Int: Int] = [:]
        let failure = events.bytes.withUnsafeBytes { bytes -> SQLiteError? in
            do throws(SQLiteError) {
                try write(events, bytes, to: index, &documents)
                for (name, place) in documents {
                    let body = UnsafeRawBufferPointer(rebasing: bytes[events.events[place].body])
                    try writeDocument(
                        body, events.first + UInt64(place), interfaces[index].names[name],
                        Int64(events.events[place].schema), of: interfaces[index].id)
                }
                if interfaces[index].served != nil { queue(events, bytes, of: index) }
            } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }
    /// - Parameter documents: gets the places of the last entries among the events, by the places of the names.
    private func write(
        _ events: ReplicaEvents, _ bytes: UnsafeRawBufferPointer, to index: Int, _ documents: inout [Int: Int]
    ) throws(SQLiteError) {
        // Of these once: each look at an interface's state costs as much as a row's columns.
        let (id, tail, parts) = (interfaces[index].id, interfaces[index].tail, interfaces[index].replica)
        var counters = interfaces[index].counters
        var (schema, name): (UInt32?, Int) = (nil, 0)
        var isDocument = false
        var place = 0
        for (rows, insertion) in sql.inserts {
            while events.events.count - place >= rows {
                defer { insertion.statement.reset() }
                for row in 0..<rows {
                    let event = events.events[place]
                    if event.schema != schema {
                        (schema, name) = (event.schema, parts?.layouts[event.schema]?.name ?? 0)
                        isDocument = parts?.documents.contains(name) ?? false
                        interfaces[index].touch(name)
                    }
                    let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                    guard let stamp = Stamp(endOf: body, epoch: events.epoch) else { continue }  // Checked before.
                    var (start, size): (Int64?, Int) = (nil, 0)
                    if body.count > BodyPages.whole {
                        size = body.count - BodyPages.stamp
                        let beginning = UnsafeRawBufferPointer(rebasing: body[..<size])
                        let added = try tail.add(beginning, behind: counters.tail, of: id, sql.bodies)
                        (start, counters.tail) = (added, added + Int64(size))
                    }
                    insertion.bind(stamp, Int64(event.schema), of: id, place: start, size: size, row: row)
                    // The run is within the call: the borrowed bytes are not read later.
                    insertion.bind(borrowed: UnsafeRawBufferPointer(rebasing: body[size...]), row: row)
                    counters.bytes += UInt64(body.count)
                    counters.last[name] = stamp.sequence
                    if isDocument { documents[name] = place }
                    place += 1
                }
                _ = try insertion.statement.step()
            }
        }
        counters.sequence += UInt64(events.events.count)
        counters.events += UInt64(events.events.count)
        interfaces[index].counters = counters
    }
    /// What leaves to the service after the commit: what its contract has.
    private func queue(_ events: ReplicaEvents, _ bytes: UnsafeRawBufferPointer, of index: Int) {
        guard let served = interfaces[index].served, let parts = interfaces[index].replica else { return }
        for event in events.events {
            let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
            guard let number = served.events[event.schema], let layout = parts.layouts[event.schema],
                let stamp = Stamp(endOf: body, epoch: events.epoch), let length = layout.fieldsLength(body)
            else { continue }
            interfaces[index].emissions.append((LoggedEvent(number, stamped: body, fieldsLength: length), stamp))
        }
    }
}
