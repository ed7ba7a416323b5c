import RelayCore

/// Which states documents have in a transaction, before it is committed.
struct DocumentDrafts {
    private struct Draft {
        let state: any Sendable
        let sequence: UInt64
    }
    /// Of the units that have ended, and of the one that runs.
    private var kept: [ObjectIdentifier: Draft] = [:]
    private var unit: [ObjectIdentifier: Draft] = [:]

    /// nil: the transaction has not set it.
    func draft<D: DomainDocument>(of type: D.Type) -> DocumentDraft<D>? {
        guard let draft = unit[ObjectIdentifier(type)] ?? kept[ObjectIdentifier(type)], let state = draft.state as? D
        else { return nil }
        return DocumentDraft(state, sequence: draft.sequence)
    }
    mutating func set<D: DomainDocument>(_ state: D, sequence: UInt64) {
        unit[ObjectIdentifier(D.self)] = Draft(state: state, sequence: sequence)
    }
    mutating func keepUnit() {
        if !unit.isEmpty { kept.merge(unit) { $1 } }
    }
    mutating func dropUnit() {
        if !unit.isEmpty { unit = [:] }
    }
    /// Committed, and entered in the stream; or rolled back.
    mutating func end() {
        if !kept.isEmpty { kept = [:] }
    }
}

/// Documents on their way through a group.
extension JournalEngine {
    private func document<D: DomainDocument>(_ type: D.Type) throws -> ExportedDocument<D> {
        if let encoder { return try encoder.document(type) }
        throw RelayError(
            .notFound,
            "\(D.name) is of \(D.Interface.name), which nobody exports: make the EventService with this journal first")
    }
    /// As the unit that runs has it.
    func draft<D: DomainDocument>(of type: D.Type) throws -> DocumentDraft<D> {
        let document = try document(type)
        if let draft = group.documents.draft(of: type) { return draft }
        // What other groups have set was entered before this one began.
        let (state, sequence) = document.present
        return DocumentDraft(state, sequence: sequence)
    }
    func isPresent<D: DomainDocument>(_ version: DocumentVersion, _ draft: DocumentDraft<D>) throws -> Bool {
        if version.sequence != draft.sequence { return false }
        let document = try document(D.self)
        return try document.isInHistory(version) { question in
            guard let index = document.logIndex, interfaces.indices.contains(index) else { return nil }
            return try run(interfaces[index].id, question)
        }
    }
    private func run(_ interface: Int64, _ question: RunQuestion) throws -> CommonRun? {
        do throws(SQLiteError) {
            let rows = try RunRows(database)
            return try question.common { epoch throws(SQLiteError) in try rows.run(epoch, of: interface) }
        } catch {
            throw consequence(ofOwn: error)
        }
    }
    /// Returns the version that the document then has.
    func set<D: DomainDocument>(_ state: D) throws -> DocumentVersion {
        let document = try document(D.self)
        let draft = try draft(of: D.self)
        if draft.state == state { return document.version(draft.sequence) }
        let event = try document.encoded(state)
        // The place that it gets at the unit's end: units run one after the other.
        var sequence = draft.sequence
        if case .durable(let interface, _) = event, interfaces.indices.contains(interface) {
            let before = group.events.count { event in
                if case .durable(interface, _) = event { true } else { false }
            }
            sequence = nextPlace(of: interface) + UInt64(before)
        }
        group.events.append(event)
        group.documents.set(state, sequence: sequence)
        var unit = UnitOfWork(self)
        try document.setOlder(state, in: &unit)
        return document.version(sequence)
    }
    /// Writes the last entry that the transaction has of a document.
    func writeDocument(_ name: Int, of interface: InterfaceState) throws(SQLiteError) {
        guard let (entry, stamp) = interface.emissions.last(where: { $0.event.index == name }) else { return }
        let insertion = sql.document
        defer { insertion.statement.reset() }
        insertion.bind(stamp.sequence, interface.names[name], of: interface.id)
        // The run is within the call: the borrowed bytes are not read later.
        let failure = entry.body.withUnsafeBytes { bytes -> SQLiteError? in
            insertion.bind(borrowed: bytes)
            do throws(SQLiteError) { _ = try insertion.statement.step() } catch { return error }
            return nil
        }
        if let failure { throw failure }
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
        let event = try EventQuery([.schema, .part, .body], "WHERE interface = ? AND sequence = ?", on: database)
        for name in logged.documents.map({ logged.events[$0].event }) {
            guard let sequence = last[name], sequence > 0 else { continue }
            let place = SQLValue.integer(Int64(bitPattern: sequence))
            var (found, part): ((schema: Int64, body: [UInt8])?, Int64) = (nil, 0)
            try entry.rows([.integer(id), .text(name), place]) { found = ($0.schema, $0.body) }
            if found == nil {
                try event.rows([.integer(id), place]) { (found, part) = (($0.schema, $0.body), $0.part) }
            }
            guard let found else { continue }
            var body: [UInt8] = []
            if part > 0 {
                _ = try sql.parts.read(from: part) {
                    body += $0
                    return true
                }
            }
            documents[name] = LoggedDocument(
                sequence: sequence, schema: UInt32(clamping: found.schema), body: body + found.body)
        }
        return documents
    }
}
