import Glibc
import RelayCore
package import RelayWire

/// What a journal knows of the events that it keeps.
package enum StoredContract {
    /// The schemas of an interface's events, with those of earlier versions that have events left.
    ///
    /// Throws `.notFound` if there is no journal, `.unavailable` for a damaged file, `.invalidArgument` for another
    /// program's.
    package static func events(of interface: String, in directory: String) throws -> [String: StoredEvent] {
        try JournalFile(in: directory, vfs: nil).stored(of: interface)
    }
}

extension JournalFile {
    /// The schemas of an interface, with those of earlier versions that have events left.
    fileprivate func stored(of interface: String) throws -> [String: StoredEvent] {
        if size == 0 { throw RelayError(.notFound, "there is no journal at \(path)") }
        let budget = StepBudget(size: size)
        do {
            // Its service's, while that runs: whatever is opened as immutable must not change.
            let database = try connection(isLive: access(path + "-shm", F_OK) == 0)
            return try budget.watch(database) { try stored(of: interface, in: database, budget) }
        } catch let error as SQLiteError {
            throw budget.isSpent ? damaged(StepBudget.fault) : refusal(error)
        }
    }
    private func stored(
        of interface: String, in database: Database, _ budget: StepBudget
    ) throws(SQLiteError) -> [String: StoredEvent] {
        try database.execute("BEGIN")
        var schemas: [SchemaRow] = []
        try database.prepare(
            """
            SELECT \(SchemaRow.columns) FROM relay_schemas JOIN relay_interfaces ON id = interface
            WHERE relay_interfaces.name = ? ORDER BY number
            """
        ).rows([.text(interface)]) { row in
            schemas.append(SchemaRow(row))
            budget.parse(row.text("fields"))
        }
        let used = try database.prepare(
            """
            SELECT 1 FROM relay_events WHERE interface = (SELECT id FROM relay_interfaces WHERE name = ?)
            AND schema = ? LIMIT 1
            """)
        var kept: [Int64: Bool] = [:]
        for schema in schemas {
            let row = try used.integers(.text(interface), .integer(schema.number))
            kept[schema.number] = row != nil
        }
        return stored(schemas, kept)
    }
    private func stored(_ schemas: [SchemaRow], _ kept: [Int64: Bool]) -> [String: StoredEvent] {
        var versions: [String: [(fields: [WireField], isKept: Bool)]] = [:]
        for schema in schemas {
            let fields = schema.fields.split(separator: "\n").compactMap { try? WireField(parsing: String($0)) }
            versions[schema.name, default: []].append(
                (fields, kept[schema.number] ?? false))
        }
        return versions.compactMapValues { all in
            all.last.map { StoredEvent(present: $0.fields, kept: all.filter(\.isKept).map(\.fields)) }
        }
    }
}
