/// The writer's own statements, prepared once.
struct EngineStatements {
    let begin, commit, rollback, save, release, restore: Statement
    let counters, last, document: Statement
    let oldest, delete, pruned, pages: Statement
    let clock, mark, unmark: Statement
    /// By falling number of rows, down to one: of 16 each costs a quarter less than by itself, of four a fifth.
    let inserts: [(rows: Int, statement: Statement)]
    static let rows = [16, 4, 1]

    init(_ database: Database) throws(SQLiteError) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        rollback = try database.prepare("ROLLBACK")
        save = try database.prepare("SAVEPOINT relay_unit")
        release = try database.prepare("RELEASE relay_unit")
        restore = try database.prepare("ROLLBACK TO relay_unit")
        let (columns, row) = ("relay_events (interface, sequence, name, schema, time, body)", "(?, ?, ?, ?, ?, ?)")
        // FAIL, not ABORT: a failure undoes the whole group anyway, and the statement needs no journal of its own.
        inserts = try Self.rows.map { count throws(SQLiteError) in
            let rows = Array(repeating: row, count: count).joined(separator: ", ")
            return (count, try database.prepare("INSERT OR FAIL INTO \(columns) VALUES \(rows)"))
        }
        counters = try database.prepare(
            "UPDATE relay_interfaces SET sequence = ?, events = ?, bytes = ? WHERE id = ? AND sequence = ?")
        last = try database.prepare("UPDATE relay_names SET last = ? WHERE interface = ? AND name = ?")
        document = try database.prepare("REPLACE INTO relay_documents VALUES (?, ?, ?, ?, ?)")
        oldest = try database.prepare(
            """
            SELECT sequence, name, length(body) FROM relay_events WHERE interface = ?
            ORDER BY sequence LIMIT \(Maintenance.stepRows + 1)
            """)
        delete = try database.prepare("DELETE FROM relay_events WHERE interface = ? AND sequence <= ?")
        pruned = try database.prepare("UPDATE relay_names SET pruned = ? WHERE interface = ? AND name = ?")
        clock = try database.prepare("REPLACE INTO relay_clock VALUES (1, ?, ?, ?, ?, ?, ?)")
        mark = try database.prepare("REPLACE INTO relay_ages VALUES (?, ?, ?, ?, ?)")
        unmark = try database.prepare("DELETE FROM relay_ages WHERE interface = ? AND sequence <= ?")
        pages = try database.prepare(
            "SELECT (SELECT freelist_count FROM pragma_freelist_count), (SELECT page_count FROM pragma_page_count)")
    }
}
