import RelayCore
import RelayWire

/// The states of documents in a replica: the last entry's, or a snapshot's. A state is known if no gap behind it can
/// have had an entry.
extension JournalEngine {
    private struct Kept {
        let sequence: UInt64
        let schema: Int64
        let body: [UInt8]
        /// No later entry up to here.
        let known: UInt64
    }
    private func kept(_ name: String, of index: Int) throws(SQLiteError) -> Kept? {
        var kept: Kept?
        try own("SELECT sequence, schema, body, known FROM relay_documents WHERE interface = ? AND name = ?")
            .rows([.integer(interfaces[index].id), .text(name)]) { row in
                kept = Kept(
                    sequence: UInt64(bitPattern: row.integer(0)), schema: row.integer(1), body: row.blob(2),
                    known: UInt64(bitPattern: row.integer(3)))
            }
        return kept
    }
    /// The sequence of the state that is there: of a row of its own, or of the last event.
    private func present(_ kept: Kept?, _ name: Int, of index: Int) -> UInt64? {
        let last = interfaces[index].counters.last[name]
        guard let kept, !kept.body.isEmpty else { return last > 0 ? last : nil }
        return max(kept.sequence, last)
    }
    /// Whether a snapshot's document is news for a service.
    func changes(
        _ document: ReplicaStates.Document, position: UInt64, of index: Int
    ) throws(SQLiteError) -> Bool {
        guard let name = interfaces[index].replica?.places[document.name] else { return true }
        let kept = try kept(document.name, of: index)
        guard let present = present(kept, name, of: index) else { return true }
        if document.sequence != present { return document.sequence > present }
        return try isInDoubt(present, kept, of: index) && max(position, present) > max(kept?.known ?? 0, present)
    }
    /// Whether a gap may have had an entry behind a state.
    private func isInDoubt(_ sequence: UInt64, _ kept: Kept?, of index: Int) throws(SQLiteError) -> Bool {
        guard interfaces[index].hasGaps else { return false }
        let gap = try sql.gaps.newest(of: interfaces[index].id, most: 1).last?.upperBound ?? 0
        return gap > max(sequence, kept?.known ?? 0)
    }
    /// Takes a snapshot's state in, if it is news.
    func take(
        _ document: ReplicaStates.Document, _ states: ReplicaStates, _ schemas: [UInt32: EventSchema], of index: Int
    ) throws(SQLiteError) {
        let name = try enter(document.name, of: index)
        let id = interfaces[index].id
        interfaces[index].changeReplica { $0.documents.insert(name) }
        let kept = try kept(document.name, of: index)
        let known = interfaces[index].replica?.layouts.mapValues(\.schema) ?? [:]
        let isThere = document.sequence <= interfaces[index].counters.sequence
        guard isThere, present(kept, name, of: index).map({ $0 <= document.sequence }) ?? true,
            let number = ReplicaParts.number(document.schema, among: schemas, known)
        else {
            // From now on it is one of the documents, whose last entries are kept.
            if kept == nil { try keepLast(of: name, index) }
            return
        }
        var body = WireWriter(capacity: document.fields.count + 32)
        body.append(document.fields)
        body.align(8)
        Stamp(epoch: 0, sequence: document.sequence, previous: 0, publishedAt: Timestamp(microseconds: 0))
            .write(into: &body)
        let failure = body.withUnsafeBytes { bytes -> SQLiteError? in
            do throws(SQLiteError) {
                try writeDocument(
                    bytes, document.sequence, interfaces[index].names[name], Int64(number), of: id)
            } catch { return error }
            return nil
        }
        if let failure { throw failure }
        let through = max(states.position, document.sequence, kept?.known ?? 0)
        try own("UPDATE relay_documents SET known = ? WHERE interface = ? AND name = ?").run(
            .integer(Int64(clamping: through)), .integer(id), .text(document.name))
    }
    /// Writes the row of a document that has none: with the last event of its name, or with nothing.
    private func keepLast(of name: Int, _ index: Int) throws(SQLiteError) {
        let last = interfaces[index].counters.last[name]
        let event = try event(last, of: index)
        let failure = (event?.body ?? []).withUnsafeBytes { bytes -> SQLiteError? in
            do throws(SQLiteError) {
                try writeDocument(
                    bytes, event == nil ? 0 : last, interfaces[index].names[name], event?.schema ?? 0,
                    of: interfaces[index].id)
            } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }
    /// An event's whole body; nil: it is not there.
    private func event(_ sequence: UInt64, of index: Int) throws(SQLiteError) -> (schema: Int64, body: [UInt8])? {
        let id = interfaces[index].id
        // The last piece of long bodies may not be in its row yet.
        try interfaces[index].tail.write(sql.bodies)
        let query = try EventQuery(
            [.schema, .place, .size, .body], "WHERE interface = ? AND sequence = ?", on: database)
        var found: (schema: Int64, place: Int64, size: Int64, end: [UInt8])?
        try query.rows([.integer(id), .integer(Int64(bitPattern: sequence))]) {
            found = ($0.schema, $0.place, $0.size, $0.body)
        }
        guard let found else { return nil }
        var body: [UInt8] = []
        defer { sql.bodies.end() }
        try sql.bodies.read(found.size, at: found.place, of: id) { body += $0 }
        return (found.schema, body + found.end)
    }
    /// What is above a sequence was removed.
    func truncateDocuments(_ index: Int, to last: UInt64) throws(SQLiteError) {
        let (id, limit) = (SQLValue.integer(interfaces[index].id), SQLValue.integer(Int64(bitPattern: last)))
        for name in interfaces[index].replica?.documents ?? [] {
            guard let kept = try kept(interfaces[index].names[name].text, of: index), kept.sequence > last else {
                continue
            }
            try keepLast(of: name, index)
        }
        try own("UPDATE relay_documents SET known = ?2 WHERE interface = ?1 AND known > ?2").run(id, limit)
    }
    /// The states of a service's documents, and those that are not known.
    func documents(
        of index: Int, for logged: LoggedInterface
    ) throws(SQLiteError) -> ([String: LoggedDocument], unknown: Set<String>) {
        var (documents, unknown): ([String: LoggedDocument], Set<String>) = ([:], [])
        let id = interfaces[index].id
        for text in logged.documents.sorted().map({ logged.events[$0].event }) {
            let name = try enter(text, of: index)
            interfaces[index].changeReplica { $0.documents.insert(name) }
            var kept = try kept(text, of: index)
            if kept == nil, interfaces[index].counters.last[name] > 0 {
                try keepLast(of: name, index)
                kept = try self.kept(text, of: index)
            }
            let pruned =
                try own("SELECT pruned FROM relay_names WHERE interface = ? AND name = ?")
                .integers(.integer(id), .text(text))?.first ?? 0
            guard let kept, !kept.body.isEmpty, kept.sequence >= interfaces[index].counters.last[name] else {
                // It was never set, if nothing is missing that could have set it.
                let isMissing = try isInDoubt(0, kept, of: index)
                if pruned > 0 || interfaces[index].counters.last[name] > 0 || isMissing { unknown.insert(text) }
                continue
            }
            if try isInDoubt(kept.sequence, kept, of: index) {
                unknown.insert(text)
            } else {
                documents[text] = LoggedDocument(
                    sequence: kept.sequence, schema: UInt32(truncatingIfNeeded: kept.schema), body: kept.body)
            }
        }
        return (documents, unknown)
    }
}
