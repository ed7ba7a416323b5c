/// The writer's own statements, prepared once.
struct EngineStatements {
    let begin, commit, rollback, save, release, restore: Statement
    let counters, last: Statement
    let delete, pruned, pages: Statement
    let document: EventInsertion
    let oldest: EventQuery
    let clock, mark, unmark: Statement
    let bodies: BodyRows
    let runs: RunRows
    let gaps: GapRows
    let addGap, lastGap, removeGaps: Statement
    /// By falling number of rows, down to one: of 16 each costs a quarter less than by itself, of four a fifth.
    let inserts: [(rows: Int, insertion: EventInsertion)]
    static let rows = [16, 4, 1]

    init(_ database: Database) throws(SQLiteError) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        rollback = try database.prepare("ROLLBACK")
        save = try database.prepare("SAVEPOINT relay_unit")
        release = try database.prepare("RELEASE relay_unit")
        restore = try database.prepare("ROLLBACK TO relay_unit")
        // FAIL, not ABORT: a failure undoes the whole group anyway, and the statement needs no journal of its own.
        inserts = try Self.rows.map { count throws(SQLiteError) in
            let insertion = try EventInsertion(
                "INSERT OR FAIL", "relay_events", EventRow.ofEvents, rows: count, on: database)
            return (count, insertion)
        }
        counters = try database.prepare(
            "UPDATE relay_interfaces SET sequence = ?, events = ?, bytes = ?, tail = ? WHERE id = ? AND sequence = ?")
        last = try database.prepare("UPDATE relay_names SET last = ? WHERE interface = ? AND name = ?")
        document = try EventInsertion("REPLACE", "relay_documents", EventRow.ofDocuments, on: database)
        oldest = try EventQuery(
            [.sequence, .schema, .place, .size, .length],
            "WHERE interface = ? ORDER BY sequence LIMIT \(Maintenance.stepRows + 1)", on: database)
        delete = try database.prepare("DELETE FROM relay_events WHERE interface = ? AND sequence <= ?")
        pruned = try database.prepare("UPDATE relay_names SET pruned = ? WHERE interface = ? AND name = ?")
        clock = try database.prepare("REPLACE INTO relay_clock VALUES (1, ?, ?, ?, ?, ?, ?)")
        mark = try database.prepare("REPLACE INTO relay_ages VALUES (?, ?, ?, ?, ?)")
        unmark = try database.prepare("DELETE FROM relay_ages WHERE interface = ? AND sequence <= ?")
        bodies = try BodyRows(database)
        runs = try RunRows(database)
        gaps = try GapRows(database)
        addGap = try database.prepare("INSERT INTO relay_gaps (interface, last, first) VALUES (?, ?, ?)")
        // NULL reads as 0.
        lastGap = try database.prepare("SELECT max(last) FROM relay_gaps WHERE interface = ? AND last <= ?")
        removeGaps = try database.prepare("DELETE FROM relay_gaps WHERE interface = ? AND last <= ?")
        pages = try database.prepare(
            "SELECT (SELECT freelist_count FROM pragma_freelist_count), (SELECT page_count FROM pragma_page_count)")
    }
    static func names(of interface: Int64, on database: Database) throws(SQLiteError) -> [NameRow] {
        var names: [NameRow] = []
        try database.prepare(NameRow.query).rows([.integer(interface)]) { names.append(NameRow($0)) }
        return names
    }
}
