import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("SQL of the domain", .heavy, .tags(.g8)) struct DomainSQLTests {
    private func code(_ ledger: Ledger, _ sql: String, _ values: [SQLValue] = []) async -> RelayError.Code? {
        do {
            try await ledger.journal.unitOfWork { try $0.execute(sql, values) }
            return nil
        } catch { return (error as? RelayError)?.code }
    }
    @Test(
        "may not touch what is the journal's",
        arguments: [
            "SELECT * FROM relay_events", "DELETE FROM RELAY_EVENTS", "UPDATE relay_interfaces SET sequence = 9",
            "INSERT INTO relay_runs VALUES (1, 1, 1)", "DROP TABLE relay_names", "ALTER TABLE relay_names ADD COLUMN x",
            "CREATE TABLE relay_mine (x)", "CREATE INDEX i ON relay_events (time)", "BEGIN", "COMMIT", "ROLLBACK",
            "CREATE TRIGGER t AFTER INSERT ON relay_events BEGIN SELECT 1; END", "SAVEPOINT s", "RELEASE relay_unit",
            "ROLLBACK TO relay_unit", "ATTACH ':memory:' AS other", "DETACH main", "PRAGMA synchronous = OFF",
            "PRAGMA user_version", "SELECT * FROM pragma_journal_mode", "VACUUM", "VACUUM INTO '/tmp/relay-stolen'",
            "UPDATE sqlite_master SET sql = ''", "SELECT * FROM box, (SELECT sequence FROM relay_events)",
            "WITH x AS (DELETE FROM relay_events RETURNING 1) SELECT 1", "SELECT * FROM no_such", "nonsense", "",
            "SELECT 1; SELECT 2", "-- nothing", "ALTER TABLE box RENAME TO relay_box",
            "alter table box rename to \"Relay_box\"", "ALTER TABLE box RENAME TO [relay_box] -- as it were",
        ])
    func refused(sql: String) async throws {
        let ledger = try Ledger(TestFolder())
        #expect(await code(ledger, "CREATE TABLE box (id INTEGER PRIMARY KEY)") == nil)
        #expect(await code(ledger, sql) == .invalidArgument)
        // And the journal is none the worse.
        try await ledger.book(1)
        #expect(try await ledger.all().map(\.sequence) == [1])
    }
    @Test("a statement that is wrong is known by its codes, without its text") func kinds() async throws {
        let ledger = try Ledger(TestFolder())
        await #expect {
            try await ledger.journal.unitOfWork { unit in try unit.execute("SELECT * FROM no_such") }
        } throws: {
            RelayError.kinds(of: $0) == "InvalidArgument, caused by SQLiteError 1"
        }
    }
    @Test("neither may views and triggers that it makes") func indirect() async throws {
        let ledger = try Ledger(TestFolder())
        for sql in [
            "CREATE TABLE box (id INTEGER PRIMARY KEY, relay_mode TEXT)",
            "CREATE VIEW v AS SELECT * FROM relay_events",
            "CREATE TRIGGER t AFTER INSERT ON box BEGIN DELETE FROM relay_events; END",
        ] { #expect(await code(ledger, sql) == nil) }
        #expect(await code(ledger, "SELECT * FROM v") == .invalidArgument)
        #expect(await code(ledger, "INSERT INTO box VALUES (1, 'x')") == .invalidArgument)
        #expect(await code(ledger, "SELECT relay_mode FROM box") == nil)
    }
    @Test("a schema that came with the file is not trusted with functions, and is not written by hand") func schema()
        throws
    {
        let folder = try TestFolder()
        let path = folder.path + "/foreign.sqlite"
        close(open(path, O_RDWR | O_CREAT, 0o600))
        let database = try Database(path, isReadOnly: false, vfs: nil)
        try database.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)")
        #expect(try database.integers("PRAGMA trusted_schema") == [0])
        try database.execute("PRAGMA writable_schema = ON")
        #expect(throws: SQLiteError.self) { try database.execute("UPDATE sqlite_master SET sql = sql") }
    }
    @Test("a constraint is a conflict, and undoes its statement alone") func constraint() async throws {
        let ledger = try Ledger(TestFolder())
        #expect(await code(ledger, "CREATE TABLE box (id INTEGER PRIMARY KEY)") == nil)
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("INSERT INTO box VALUES (1), (2)")
            let error = #expect(throws: RelayError.self) { try unit.execute("INSERT INTO box VALUES (3), (2)") }
            #expect(error?.code == .conflict && error?.message.contains("UNIQUE constraint failed: box.id") == true)
            #expect((error?.cause as? SQLiteError)?.primaryCode == 19)
            try unit.publish(Booked(amount: 1, text: ""))
        }
        #expect(try await ledger.journal.unitOfWork { try $0.query("SELECT id FROM box") { $0.integer(0) } } == [1, 2])
        #expect(ledger.stream.sequences == [1])
    }
    @Test("foreign keys hold, those that are checked at the end too") func foreignKeys() async throws {
        let ledger = try Ledger(TestFolder())
        for sql in [
            "CREATE TABLE box (id INTEGER PRIMARY KEY)",
            "CREATE TABLE item (box REFERENCES box DEFERRABLE INITIALLY DEFERRED)",
        ] { #expect(await code(ledger, sql) == nil) }
        // Alone and among others: none of those that share the commit suffers.
        await withTaskGroup(of: RelayError.Code?.self) { group in
            for number in 0..<60 {
                group.addTask {
                    await code(
                        ledger,
                        number.isMultiple(of: 2) ? "INSERT INTO item VALUES (99)" : "INSERT INTO box VALUES (?)",
                        number.isMultiple(of: 2) ? [] : [.integer(Int64(number))])
                }
            }
            var codes: [RelayError.Code?] = []
            for await code in group { codes.append(code) }
            #expect(codes.filter { $0 == .conflict }.count == 30 && codes.filter { $0 == nil }.count == 30)
        }
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("INSERT INTO item VALUES (2)")
            try unit.execute("INSERT INTO box VALUES (2)")
        }
        #expect(
            try await ledger.journal.unitOfWork { try $0.query("SELECT count(*) FROM box") { $0.integer(0) } } == [31])
    }
    @Test("values come back as they were given") func values() async throws {
        let ledger = try Ledger(TestFolder())
        let values: [SQLValue] = [
            .integer(.min), .integer(.max), .real(1.5), .text(""), .text("a\0b"), .text("ü\u{1F600}"), .blob([]),
            .blob([0, 255]), .null,
        ]
        for value in values {
            let back = try await ledger.journal.unitOfWork { unit in
                try unit.query("SELECT ?", [value]) { row in
                    #expect(row.count == 1 && row.isNull(1) && row.integer(7) == 0 && row.text(-1).isEmpty)
                    #expect(row.isNull(0) == (value == .null))
                    return row.value(0)
                }
            }
            #expect(back == [value])
        }
        #expect(await code(ledger, "SELECT ?") == .invalidArgument)
        #expect(await code(ledger, "SELECT ?", [1, 2]) == .invalidArgument)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await ledger.journal.unitOfWork {
                try $0.query("SELECT 1 UNION SELECT 2") { _ in throw Stop() } as [Int]
            }
        }
    }
    @Test("a unit without a service cannot publish, but everything else") func noService() async throws {
        let journal = try EventJournal(directory: TestFolder().path)
        try await journal.unitOfWork { try $0.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)") }
        let error = await #expect(throws: RelayError.self) {
            try await journal.unitOfWork { try $0.publish(Booked(amount: 1, text: "")) }
        }
        #expect(error?.code == .notFound && error?.message.contains("Booked") == true)
    }
}
