import CSQLite
import RelayCore
import Synchronization

/// A connection on which the domain's tables are read, and that cannot write. On one thread.
final class SnapshotConnection {
    /// Set when the journal is closed: ends the query that runs, and all later ones.
    final class Stop: Sendable {
        private let flag = Atomic<Bool>(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
    private let path: String
    private let stop: Stop
    private let database: Database
    private let begin, end, position: Statement
    private let domain: DomainSQL
    /// A query looks at `stop` each time it has done so many steps of SQLite's machine: some microseconds.
    private static let stride: Int32 = 1_000

    init(_ file: JournalFile, _ stop: Stop) throws(SQLiteError) {
        (path, self.stop) = (file.path, stop)
        database = try Database(file.path, isReadOnly: true, vfs: file.vfs)
        begin = try database.prepare("BEGIN")
        end = try database.prepare("ROLLBACK")
        position = try database.prepare(
            """
            SELECT sequence,
                (SELECT epoch FROM relay_runs WHERE interface = relay_interfaces.id ORDER BY rowid DESC LIMIT 1)
                AS epoch
            FROM relay_interfaces WHERE name = ?
            """)
        domain = DomainSQL(database, access: .reading)
        // Unretained: taken back before this, which has it, goes.
        sqlite3_progress_handler(
            database.handle, Self.stride,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Stop>.fromOpaque(context).takeUnretainedValue().isSet ? 1 : 0
            }, Unmanaged.passUnretained(stop).toOpaque())
    }
    deinit {
        domain.detach()
        sqlite3_progress_handler(database.handle, 0, nil, nil)
    }

    /// Runs a closure in one transaction.
    func run(_ body: any SnapshotBody) throws {
        try begin.run()
        defer { try? end.run() }
        var snapshot = JournalSnapshot(self)
        try body.run(in: &snapshot)
    }
    func query<T>(_ sql: String, _ values: [SQLValue], _ row: (borrowing Row) throws -> T) throws -> [T] {
        try explain("'\(sql.prefix(200))' on \(path)") { try domain.query(sql, values, row) }
    }
    func position(of interface: String) throws -> (epoch: UInt64, sequence: UInt64) {
        var found: (epoch: UInt64, sequence: UInt64)?
        try explain("cannot read \(path)") {
            try position.rows([.text(interface)]) { row in
                found = (UInt64(bitPattern: row.integer("epoch")), UInt64(bitPattern: row.integer("sequence")))
            }
        }
        guard let found else {
            throw RelayError(
                .notFound, "\(path) keeps no events of \(interface): make the EventService with this journal first")
        }
        return found
    }
    private func explain<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
        if stop.isSet { throw closed(nil) }
        do { return try body() } catch let error as SQLiteError {
            if stop.isSet { throw closed(error) }
            if error.primaryCode == SQLITE_AUTH {
                throw RelayError(
                    .invalidArgument,
                    "\(what): \(error): a snapshot only reads, and tables named relay_… belong to the journal",
                    cause: error)
            }
            throw error.asRelayError(what)
        }
    }
    private func closed(_ cause: SQLiteError?) -> RelayError {
        RelayError(.unavailable, "the journal \(path) was closed while it was read", cause: cause)
    }
}
