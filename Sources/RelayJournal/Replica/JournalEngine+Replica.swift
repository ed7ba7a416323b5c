import RelayCore
import RelayWire

/// A mirror's journal: its interfaces are there from the start, and a service that comes and goes reads them.
extension JournalEngine {
    /// At the start: takes in what the file has.
    func beginReplica(_ retention: ReplicaRetention) throws {
        replicaRetention = retention
        do {
            try sql.begin.run()
            readClock()
            try saveClock()
            var rows: [InterfaceRow] = []
            try database.prepare("SELECT \(InterfaceRow.columns) FROM relay_interfaces ORDER BY id")
                .rows([]) { rows.append(InterfaceRow($0)) }
            for row in rows { interfaces.append(try replicaState(row)) }
        } catch {
            rollBack()
            throw error
        }
        try commitTransaction()
        maintenance.begin = 0
        file.marks.dropClean()
    }
    private func replicaState(_ row: InterfaceRow) throws -> InterfaceState {
        try check(row)
        let logged = detached(row.name)
        let rule = RetentionRule(logged.retention)
        var state = InterfaceState(
            id: row.id, logged: logged, names: [], schemaNames: [:],
            counters: .init(
                sequence: UInt64(row.sequence), last: [], events: UInt64(row.events), bytes: UInt64(row.bytes),
                tail: row.tail),
            ages: try loadAges(row.id, head: UInt64(row.sequence), events: UInt64(row.events), rule),
            hasGaps: try sql.gaps.count(of: row.id) > 0, rule: rule, replica: ReplicaParts())
        for name in try EngineStatements.names(of: row.id, on: database) {
            let place = state.add(InterfaceState.Name(name.name, schema: 0), last: name.last)
            state.changeReplica { $0.places[name.name] = place }
        }
        var schemas: [SchemaRow] = []
        try database.prepare("SELECT \(SchemaRow.columns) FROM relay_schemas WHERE interface = ?")
            .rows([.integer(row.id)]) { schemas.append(SchemaRow($0)) }
        for schema in schemas {
            do throws(RelayError) {
                let kept = try schema.event()
                guard let place = state.replica?.places[kept.event], let number = UInt32(exactly: schema.number) else {
                    throw RelayError(.unavailable, "it is of no event")
                }
                state.setLayout(try .init(kept, name: place), number)
            } catch { throw file.damaged("schema \(schema.number): \(error.message)") }
        }
        var documents: [String] = []
        try database.prepare("SELECT name FROM relay_documents WHERE interface = ?")
            .rows([.integer(row.id)]) { documents.append($0.text("name")) }
        state.changeReplica { parts in parts.documents = Set(documents.compactMap { parts.places[$0] }) }
        state.wasCommitted(at: elapsed)
        return state
    }
    /// An interface that no service serves.
    private func detached(_ name: String) -> LoggedInterface {
        LoggedInterface(
            name: name, epoch: 0, retention: replicaRetention?.of(name) ?? Retention(), events: [], stream: NoService())
    }
    /// The place of an interface, which is added if it is new.
    func enterReplica(_ name: String) throws(SQLiteError) -> Int {
        if let index = interfaces.firstIndex(where: { $0.logged.name == name }) { return index }
        try own("INSERT INTO relay_interfaces (name, sequence, events, bytes, tail) VALUES (?, 0, 0, 0, 0)")
            .run(.text(name))
        let id = try own("SELECT id FROM relay_interfaces WHERE name = ?").integers(.text(name))?.first ?? 0
        let logged = detached(name)
        let rule = RetentionRule(logged.retention)
        var state = InterfaceState(
            id: id, logged: logged, names: [], schemaNames: [:],
            counters: .init(sequence: 0, last: [], events: 0, bytes: 0, tail: 0),
            ages: EventAges([], age: rule.age, last: clock.elapsed), hasGaps: false, rule: rule,
            replica: ReplicaParts())
        state.isNew = true
        interfaces.append(state)
        return interfaces.count - 1
    }
    /// A statement of the journal's own that is kept prepared.
    func own(_ text: String) throws(SQLiteError) -> Statement {
        if let known = ownStatements[text] { return known }
        let statement = try database.prepare(text)
        ownStatements[text] = statement
        return statement
    }
    func replicaStates() throws -> [String: [UInt8]] {
        var states: [String: [UInt8]] = [:]
        do throws(SQLiteError) {
            try own(
                "SELECT name, state FROM relay_mirror_states JOIN relay_interfaces ON id = interface"
            ).rows([]) { states[$0.text("name")] = $0.blob(1) }
        } catch { throw consequence(ofOwn: error) }
        return states
    }

    // MARK: The service

    func detachService() {
        encoder = nil
        for index in interfaces.indices {
            (interfaces[index].logged, interfaces[index].served) = (detached(interfaces[index].logged.name), nil)
        }
    }
    /// A service begins with what the file has.
    func attach(
        _ logged: [LoggedInterface], _ encoder: any EventEncoder
    ) throws -> [(LogSnapshot, InterfaceState)] {
        var attached: [(index: Int, snapshot: LogSnapshot)] = []
        do {
            try sql.begin.run()
            for interface in logged {
                guard let index = interfaces.firstIndex(where: { $0.logged.name == interface.name }) else {
                    throw RelayError(.notFound, "\(file.path) has nothing of \(interface.name) yet")
                }
                attached.append((index, try snapshot(of: index, for: interface)))
                group.dirty.append(index)
            }
            for index in group.dirty { try writeCounters(of: interfaces[index]) }
        } catch {
            group.dirty = []
            rollBack()
            if let error = error as? SQLiteError { throw consequence(ofOwn: error) }
            throw error
        }
        group.dirty = []
        try commitTransaction()
        for (place, interface) in zip(attached, logged) {
            interfaces[place.index].wasCommitted(at: elapsed)
            serve(interface, place.index)
        }
        self.encoder = encoder
        return attached.map { ($0.snapshot, interfaces[$0.index]) }
    }
    private func serve(_ logged: LoggedInterface, _ index: Int) {
        var events: [UInt32: Int] = [:]
        for (number, layout) in interfaces[index].replica?.layouts ?? [:] {
            events[number] = logged.events.firstIndex(of: layout.schema)
        }
        interfaces[index].logged = logged
        interfaces[index].served = ServedReplica(
            epoch: logged.epoch, events: events, hasDocuments: !logged.documents.isEmpty)
    }
    private func snapshot(of index: Int, for logged: LoggedInterface) throws -> LogSnapshot {
        let id = interfaces[index].id
        let runs = try sql.runs.recent(of: id, most: Self.knownRuns)
        guard let present = runs.runs.last, present.epoch == logged.epoch else {
            throw RelayError(
                .invalidArgument,
                "\(logged.name) cannot be served as run \(logged.epoch): the replica \(file.path) is in run "
                    + "\(runs.runs.last?.epoch ?? 0)")
        }
        for event in logged.events { _ = try enter(event.event, of: index) }
        let (documents, unknown) = try documents(of: index, for: logged)
        var (last, pruned): ([String: UInt64], [String: UInt64]) = ([:], [:])
        let gaps = try sql.gaps.newest(of: id, most: Self.knownGaps)
        for name in try EngineStatements.names(of: id, on: database) {
            last[name.name] = max(name.last, name.pruned, gaps.last?.upperBound ?? 0)
            pruned[name.name] = name.pruned
        }
        return LogSnapshot(
            head: interfaces[index].counters.sequence, last: last.filter { $0.value > 0 },
            pruned: pruned.filter { $0.value > 0 }, runs: runs.runs, schemas: schemas(of: index, for: logged),
            documents: documents, sample: runs.sample, journal: try sql.runs.identity(of: id), gaps: gaps,
            unknownDocuments: unknown)
    }
    /// All that rows may have; and the service's, which must be the present ones of their names: with numbers that stand
    /// for no row, where that takes another one.
    private func schemas(of index: Int, for logged: LoggedInterface) -> [UInt32: EventSchema] {
        var schemas = interfaces[index].replica?.layouts.mapValues(\.schema) ?? [:]
        var next = UInt32(clamping: Self.firstRepetition)
        for event in logged.events {
            let known = schemas.filter { $0.value.event == event.event }
            if let present = known.keys.max(), known[present] == event {
                // The contract knows the former names, too.
                schemas[present] = event
            } else {
                schemas[next] = event
                next += 1
            }
        }
        return schemas
    }
}

extension ReplicaParts.Layout {
    /// Throws for a schema that D-Bus cannot carry.
    init(_ schema: EventSchema, name: Int) throws(RelayError) {
        guard case .structure(let fields)? = try Stream1.bodySignature(schema.fields).types.first else {
            throw RelayError(.internalFailure, "\(schema.event) is no structure")
        }
        // Without the stamp.
        self.init(schema: schema, skip: WireSkip(Array(fields.dropLast(3))), name: name)
    }
    /// How many of a body's bytes are the fields; nil: it is not such a body.
    func fieldsLength(_ body: UnsafeRawBufferPointer) -> Int? {
        var reader = WireReader(body)
        do throws(WireFault) {
            try reader.skip(skip)
            let length = reader.position
            try reader.align(8)
            return reader.remaining == Stamp.size ? length : nil
        } catch { return nil }
    }
}

extension SchemaRow {
    fileprivate func event() throws(RelayError) -> EventSchema {
        do { return EventSchema(event: name, fields: try parsed()) } catch let error as RelayError {
            throw error
        } catch { throw RelayError(.unavailable, "\(error)") }
    }
}
