import RelayCore
import RelayWire

/// A transaction, as a service uses it.
struct JournalUnit: LogUnit {
    let engine: JournalEngine

    var drafts: DocumentDrafts {
        get { engine.group.documents }
        nonmutating set { engine.group.documents = newValue }
    }
    func publish(_ event: EncodedEvent) throws -> UInt64? {
        defer { engine.group.events.append(event) }
        guard case .durable(let interface, _) = event, engine.interfaces.indices.contains(interface) else { return nil }
        // Units run one after the other: the place that it gets at the unit's end is known.
        let before = engine.group.events.count { event in
            if case .durable(interface, _) = event { true } else { false }
        }
        return engine.nextPlace(of: interface) + UInt64(before)
    }
    func find(_ question: RunQuestion, in interface: String) throws -> CommonRun? {
        try engine.find(question, in: interface)
    }
    func forgotten(_ command: String, of interface: String) throws -> UInt64 {
        var unit = UnitOfWork(engine)
        return try unit.forgottenSequence(command, of: interface)
    }
}

/// Documents on their way through a group.
extension JournalEngine {
    func document<D: DomainDocument>(_ type: D.Type) throws -> ExportedDocument<D> {
        if let encoder { return try encoder.document(type) }
        throw RelayError(
            .notFound,
            "\(D.name) is of \(D.Interface.name), which nobody exports: make the EventService with this journal first")
    }
    fileprivate func find(_ question: RunQuestion, in name: String) throws -> CommonRun? {
        guard let interface = interfaces.first(where: { $0.logged.name == name }) else { return nil }
        do throws(SQLiteError) {
            return try question.common { epoch throws(SQLiteError) in try sql.runs.run(epoch, of: interface.id) }
        } catch {
            throw consequence(ofOwn: error)
        }
    }
    /// Writes the last entry that the transaction has of a document.
    func writeDocument(_ name: Int, of interface: InterfaceState) throws(SQLiteError) {
        guard let (entry, stamp) = interface.emissions.last(where: { $0.event.index == name }) else { return }
        let failure = entry.body.withUnsafeBytes { bytes -> SQLiteError? in
            do throws(SQLiteError) {
                let schema = interface.names[name].schema
                try writeDocument(bytes, stamp.sequence, interface.names[name], schema, of: interface.id)
            } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }
    /// Writes an entry of a document in the place of the one before.
    func writeDocument(
        _ body: UnsafeRawBufferPointer, _ sequence: UInt64, _ name: InterfaceState.Name, _ schema: Int64,
        of interface: Int64
    ) throws(SQLiteError) {
        let insertion = sql.document
        defer { insertion.statement.reset() }
        insertion.bind(sequence, name, schema, of: interface)
        // The run is within the call: the borrowed bytes are not read later.
        insertion.bind(borrowed: body)
        _ = try insertion.statement.step()
    }
    /// The last entries of an interface's documents: from their own table, or from the events where that one is behind,
    /// because an earlier version of the contract had an event of that name.
    func documents(
        of logged: LoggedInterface, _ id: Int64, _ last: [String: UInt64]
    ) throws -> [String: LoggedDocument] {
        var documents: [String: LoggedDocument] = [:]
        // An error for one that the journal cannot have written, before memory is taken for it.
        let bound = database.limitValues(to: Database.longestOwnValue)
        defer { database.limitValues(to: bound) }
        let entry = try EventQuery(
            [.schema, .body], from: "relay_documents", "WHERE interface = ? AND name = ? AND sequence = ?", on: database
        )
        let event = try EventQuery(
            [.schema, .place, .size, .body], "WHERE interface = ? AND sequence = ?", on: database)
        for name in logged.documents.map({ logged.events[$0].event }) {
            guard let sequence = last[name], sequence > 0 else { continue }
            let place = SQLValue.integer(Int64(bitPattern: sequence))
            var found: (schema: Int64, body: [UInt8])?
            var (start, size): (Int64, Int64) = (0, 0)
            try entry.rows([.integer(id), .text(name), place]) { found = ($0.schema, $0.body) }
            if found == nil {
                try event.rows([.integer(id), place]) {
                    (found, start, size) = (($0.schema, $0.body), $0.place, $0.size)
                }
            }
            guard let found else { continue }
            var body: [UInt8] = []
            defer { sql.bodies.end() }
            try sql.bodies.read(size, at: start, of: id) { body += $0 }
            documents[name] = LoggedDocument(
                sequence: sequence, schema: UInt32(clamping: found.schema), body: body + found.body)
        }
        return documents
    }
}
