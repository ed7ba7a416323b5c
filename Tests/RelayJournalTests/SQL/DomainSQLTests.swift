import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("SQL of the domain", .heavy, .tags(.g8)) struct DomainSQLTests {
    private func code(_ ledger: Ledger, _ sql: String, _ values: [SQLValue] = []) async -> RelayError.Code? {
        do {
            try await ledger.journal.unitOfWork { try $0.execute(SQL(sql, values)) }
            return nil
        } catch { return (error as? RelayError)?.code }
    }
    @Test("a value between quotes is refused, with what to write") func quoted() async throws {
        let ledger = try Ledger(TestFolder())
        let title = "Lamp"
        let error = await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { try $0.query("SELECT '\(title)'", as: String.self) }
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("a value stands without quotes") == true)
    }
    @Test(
        "may not touch what is the journal's",
        arguments: [
            "SELECT * FROM relay_events", "DELETE FROM RELAY_EVENTS", "UPDATE relay_interfaces SET sequence = 9",
            "INSERT INTO relay_runs VALUES (1, 1, 1, 0)", "DROP TABLE relay_names",
            "ALTER TABLE relay_names ADD COLUMN x",
            "CREATE TABLE a (x REFERENCES relay_interfaces (events))",
            "CREATE TABLE b (x REFERENCES Relay_Events (sequence))",
            "CREATE TEMP TABLE c (x, FOREIGN KEY (x) REFERENCES \"relay_names\" (name))",
            "ALTER TABLE box ADD COLUMN x REFERENCES relay_events (sequence)", "ALTER TABLE box RENAME TO relay",
            "ALTER TABLE box RENAME TO \"relay_\u{301}x\"", "ALTER TABLE box RENAME TO Relay", "CREATE TABLE relay (x)",
            "CREATE VIEW \"RELAY\" AS SELECT 1", "CREATE TABLE d (x, FOREIGN KEY (x) REFERENCES 'RELAY_later' (y))",
            "ALTER TABLE words RENAME TO relay", "ALTER TABLE scratch RENAME TO relay_events",
            "ALTER TABLE scratch RENAME TO Relay_Names", "ALTER TABLE scratch ADD COLUMN x REFERENCES relay_runs",
            "CREATE TABLE relay_mine (x)", "CREATE INDEX i ON relay_events (time)", "BEGIN", "COMMIT", "ROLLBACK",
            "CREATE TRIGGER t AFTER INSERT ON relay_events BEGIN SELECT 1; END", "SAVEPOINT s", "RELEASE relay_unit",
            "ROLLBACK TO relay_unit", "ATTACH ':memory:' AS other", "DETACH main", "PRAGMA synchronous = OFF",
            "PRAGMA user_version", "SELECT * FROM pragma_journal_mode", "VACUUM", "VACUUM INTO '/tmp/relay-stolen'",
            "UPDATE sqlite_master SET sql = ''", "SELECT * FROM box, (SELECT sequence FROM relay_events)",
            "WITH x AS (DELETE FROM relay_events RETURNING 1) SELECT 1", "SELECT * FROM no_such", "nonsense", "",
            "SELECT 1; SELECT 2", "-- nothing", "ALTER TABLE box RENAME TO relay_box",
            "alter table box rename to \"Relay_box\"", "ALTER TABLE box RENAME TO [relay_box] -- as it were",
            "SELECT 1; PRAGMA synchronous = OFF", "ALTER TABLE box ADD COLUMN x; PRAGMA synchronous = OFF",
            "EXPLAIN PRAGMA synchronous = OFF", "/* */ \u{FEFF}PRAGMA writable_schema = ON", "EXPLAIN COMMIT",
            "SELECT count(*) FROM pragma_optimize", "SELECT * FROM Pragma_Table_Info('relay_events')",
            "CREATE TABLE x AS SELECT * FROM pragma_user_version", "CREATE TEMP TABLE relay_events (x)",
            "CREATE TEMP VIEW relay_events AS SELECT 1", "CREATE VIEW relay_x AS SELECT 1", "ANALYZE",
            "CREATE TEMP TRIGGER t AFTER INSERT ON relay_events BEGIN SELECT 1; END", "REINDEX relay_replies",
            "CREATE VIRTUAL TABLE relay USING fts5(text)", "UPDATE sqlite_schema SET sql = ''",
            "CREATE TABLE pragma_page_count (page_count)", "CREATE VIEW Pragma_page_size AS SELECT 1 AS page_size",
            "CREATE TEMP TABLE pragma_foreign_key_list (x)", "CREATE TEMP VIEW PRAGMA_page_count AS SELECT 1",
            "CREATE VIRTUAL TABLE pragma_page_count USING fts5(page_count)",
            "ALTER TABLE box RENAME TO pragma_page_count",
            "ALTER TABLE scratch RENAME TO Pragma_foreign_key_list", "ALTER TABLE words RENAME TO pragma_x",
            "UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 2",
        ])
    func refused(sql: String) async throws {
        let ledger = try Ledger(TestFolder())
        for sql in [
            "CREATE TABLE box (id INTEGER PRIMARY KEY)", "CREATE VIRTUAL TABLE words USING fts5(text)",
            "CREATE TEMP TABLE scratch (id INTEGER PRIMARY KEY)",
        ] { #expect(await code(ledger, sql) == nil) }
        #expect(await code(ledger, sql) == .invalidArgument)
        // And the journal is none the worse.
        try await ledger.book(1)
        #expect(try await ledger.all().map(\.sequence) == [1])
    }
    @Test("a statement that made what it may not is undone alone") func undone() async throws {
        let ledger = try Ledger(TestFolder())
        let tables = try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (id INTEGER PRIMARY KEY, label TEXT)")
            try unit.execute("INSERT INTO box VALUES (1, 'books')")
            for (sql, words) in [
                ("ALTER TABLE box RENAME TO relay_box", "relay_box is no table of the journal's"),
                ("CREATE TABLE lid (box REFERENCES relay_events (sequence))", "lid has a foreign key to relay_events"),
            ] {
                let error = #expect(throws: RelayError.self) { try unit.execute(SQL(sql)) }
                #expect(
                    error?.code == .invalidArgument && error?.message.contains(words) == true, "\(error?.message ?? "")"
                )
            }
            try unit.execute("INSERT INTO box VALUES (2, 'maps')")
            return try unit.query("SELECT name FROM sqlite_master WHERE name IN ('box', 'lid', 'relay_box')") {
                $0.text(0)
            }
        }
        #expect(tables == ["box"])
        #expect(try await ledger.journal.read { try $0.query("SELECT count(*) FROM box") { $0.integer(0) } } == [2])
    }
    @Test("what was there before a statement is no fault of its") func earlier() async throws {
        let folder = try TestFolder()
        let ledger = try Ledger(folder)
        ledger.journal.close()
        // As an earlier version left it, or another program.
        try Database(folder.database, isReadOnly: false, vfs: nil).execute(
            "CREATE TABLE relay (x); CREATE VIEW v AS SELECT '\(String(repeating: "x", count: 1 << 20))' AS x")
        let next = try Ledger(folder, epoch: 2)
        #expect(await code(next, "CREATE TABLE box (id INTEGER PRIMARY KEY)") == nil)
        #expect(await code(next, "ALTER TABLE relay ADD COLUMN y") == nil)
        #expect(await code(next, "ALTER TABLE box RENAME TO relay_box") == .invalidArgument)
        #expect(await code(next, "CREATE VIEW w AS SELECT '\(String(repeating: "x", count: 1 << 20))'") == .tooLarge)
        next.journal.close()
        #expect(try JournalInspection(directory: folder.path).check().events == 0)
    }
    @Test("no definition is longer than a start reads, and values may be") func long() async throws {
        let folder = try TestFolder()
        let ledger = try Ledger(folder)
        let text = String(repeating: "x", count: 1 << 20)
        #expect(await code(ledger, "CREATE TABLE box (label TEXT DEFAULT '\(text)')") == .tooLarge)
        #expect(await code(ledger, "CREATE VIEW v AS SELECT '\(text)'") == .tooLarge)
        #expect(await code(ledger, "CREATE TABLE box (label TEXT DEFAULT '\(text.dropLast(100))')") == nil)
        #expect(await code(ledger, "ALTER TABLE box ADD COLUMN more TEXT DEFAULT '\(text.dropLast(100))'") == .tooLarge)
        #expect(await code(ledger, "CREATE TABLE pile (bytes BLOB NOT NULL CHECK (length(bytes) > 1)) STRICT") == nil)
        #expect(await code(ledger, "INSERT INTO pile VALUES (zeroblob(9000000)), (randomblob(6000000))") == nil)
        try await ledger.book(1)
        ledger.journal.close()
        #expect(try JournalInspection(directory: folder.path).check().events == 1)
        let next = try Ledger(folder, epoch: 2)
        let sum = "SELECT sum(length(bytes)) FROM pile"
        #expect(try await next.journal.read { try $0.query(SQL(sum)) { $0.integer(0) } } == [15_000_000])
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
    /// What a migration does to its tables, by each statement that SQLite has for it. Releases carry these out by
    /// different means, PRAGMA among them.
    @Test(
        "may do to its own tables what SQL can",
        arguments: [
            "ALTER TABLE box ADD COLUMN note TEXT", "ALTER TABLE box ADD COLUMN count INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE box ADD COLUMN count INTEGER NOT NULL DEFAULT 0 CHECK (count >= 0)",
            "ALTER TABLE box ADD COLUMN next INTEGER NOT NULL AS (id + 1)",
            "ALTER TABLE box ADD COLUMN pragma_count INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE box ADD COLUMN room INTEGER REFERENCES room", "ALTER TABLE box RENAME COLUMN label TO title",
            "ALTER TABLE box DROP COLUMN size", "ALTER TABLE box RENAME TO crate", "DROP TABLE box",
            "ALTER TABLE loose ADD COLUMN count INTEGER NOT NULL DEFAULT 0",
            "CREATE TABLE note (text TEXT DEFAULT 'references relay_events') /* REFERENCES relay_names */",
            "ALTER TABLE box ADD COLUMN note TEXT DEFAULT 'no rename to relay_box, and references no relay_names'",
            "ALTER TABLE box RENAME COLUMN label TO relay_label", "ALTER TABLE box RENAME TO relays",
            "CREATE TABLE x (relay_mode REFERENCES room) -- not relay_names",
            "CREATE INDEX by_label ON box (label)", "CREATE UNIQUE INDEX by_label ON box (label) WHERE size > 1",
            "CREATE INDEX by_length ON box (length(label))", "REINDEX box", "ANALYZE box",
            "CREATE TABLE copy AS SELECT * FROM box", "CREATE VIEW labels AS SELECT label FROM box",
            "CREATE TRIGGER counting AFTER INSERT ON box BEGIN UPDATE loose SET size = size + 1; END",
            "CREATE VIRTUAL TABLE words USING fts5(text)", "CREATE VIRTUAL TABLE places USING rtree(id, a, b)",
            "CREATE TABLE other (id INTEGER PRIMARY KEY, box INTEGER NOT NULL REFERENCES box) STRICT, WITHOUT ROWID",
            "INSERT INTO box (label) VALUES ('pragma_x') ON CONFLICT DO NOTHING RETURNING id",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT * FROM n",
            "SELECT json_each.value FROM json_each('[1]')", "SELECT sql FROM sqlite_schema WHERE name = 'box'",
        ])
    func permitted(sql: String) async throws {
        let ledger = try Ledger(TestFolder())
        for sql in [
            "CREATE TABLE room (id INTEGER PRIMARY KEY) STRICT",
            "CREATE TABLE box (id INTEGER PRIMARY KEY, label TEXT NOT NULL, size INTEGER) STRICT",
            "CREATE TABLE loose (size)", "INSERT INTO box VALUES (1, 'books', 2)", "INSERT INTO loose VALUES (1)",
        ] { try await ledger.journal.unitOfWork { try $0.execute(SQL(sql)) } }
        try await ledger.journal.unitOfWork { try $0.execute(SQL(sql)) }
        try await ledger.book(1)
        #expect(try await ledger.all().map(\.sequence) == [1])
        ledger.journal.close()
        #expect(try JournalInspection(directory: ledger.directory.path).check().events == 1)
    }
    @Test("a full-text index works in units and in reads") func fullText() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
            try unit.execute("INSERT INTO words VALUES ('spring garden'), ('winter')")
        }
        let find = "SELECT count(*) FROM words WHERE words MATCH 'garden'"
        #expect(try await ledger.journal.unitOfWork { try $0.query(SQL(find)) { $0.integer(0) } } == [1])
        #expect(try await ledger.journal.read { try $0.query(SQL(find)) { $0.integer(0) } } == [1])
        ledger.journal.close()
        // In another run, each kind of statement may be the first that needs the table.
        for (epoch, sql) in [
            "DELETE FROM words WHERE text = 'winter'", "UPDATE words SET text = 'garden' WHERE text = 'winter'",
            "INSERT INTO words VALUES ('a pragma of the garden')", find + " AND text <> 'pragma'",
        ].enumerated() {
            let next = try Ledger(ledger.directory, epoch: UInt64(epoch + 2))
            #expect(await code(next, sql) == nil, "\(sql)")
            next.journal.close()
        }
    }
    @Test("a full-text index that does not agree with what it indexes fails its units alone") func stale() async throws
    {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (id INTEGER PRIMARY KEY, label TEXT)")
            try unit.execute("CREATE VIRTUAL TABLE words USING fts5(label, content='box', content_rowid='id')")
            try unit.execute("INSERT INTO box VALUES (1, 'spring garden')")
            try unit.execute("INSERT INTO words (rowid, label) VALUES (1, 'spring garden')")
            // Without the index.
            try unit.execute("DELETE FROM box")
        }
        let find = "SELECT label FROM words WHERE words MATCH 'garden'"
        for _ in 0..<2 {
            let unit = await #expect(throws: RelayError.self) {
                try await ledger.journal.unitOfWork { try $0.query(SQL(find)) { $0.text(0) } }
            }
            let read = await #expect(throws: RelayError.self) {
                try await ledger.journal.read { try $0.query(SQL(find)) { $0.text(0) } }
            }
            for error in [unit, read] {
                #expect(error?.code == .conflict && error?.message.contains("rebuild it") == true, "\(error as Any)")
                #expect((error?.cause as? SQLiteError)?.code == SQLITE_CORRUPT | 1 << 8)
                #expect(error.map { UnfitJournal.explains($0) } == false)
            }
        }
        // The advice helps.
        try await ledger.journal.unitOfWork { try $0.execute("INSERT INTO words (words) VALUES ('rebuild')") }
        #expect(try await ledger.journal.unitOfWork { try $0.query(SQL(find)) { $0.text(0) } }.isEmpty)
        try await ledger.book(1)
        // What it keeps of itself is gone: it finds that when the unit or the transaction ends.
        let other = try RawSQLite(ledger.directory.database)
        try other.execute("UPDATE words_data SET block = x'00000000FF7FFF7F00' WHERE id = 10")
        for _ in 0..<2 {
            let error = await #expect(throws: RelayError.self) {
                try await ledger.journal.unitOfWork {
                    try $0.execute("INSERT INTO words (rowid, label) VALUES (2, 'maps')")
                }
            }
            #expect(error?.code == .conflict, "\(error as Any)")
        }
        try await ledger.book(2)
        #expect(try await ledger.all().map(\.sequence) == [1, 2])
    }
    @Test("a pragma that takes effect when it is compiled has none") func compiled() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)")
            try unit.execute("CREATE TABLE item (box INTEGER REFERENCES box)")
        }
        for sql in ["SELECT 1; PRAGMA foreign_keys = OFF", "ALTER TABLE box ADD x; PRAGMA foreign_keys = OFF"] {
            #expect(await code(ledger, sql) == .invalidArgument)
        }
        #expect(await code(ledger, "INSERT INTO item VALUES (7)") == .conflict)
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
                try unit.query(SQL("SELECT ?", [value])) { row in
                    #expect(row.count == 1 && row.isNull(1) && row.integer(7) == 0 && row.text(-1).isEmpty)
                    #expect(row.isNull(0) == (value == .null))
                    return row.value(0)
                }
            }
            #expect(back == [value])
        }
        #expect(await code(ledger, "SELECT ?") == .invalidArgument)
        #expect(await code(ledger, "SELECT ?", [.integer(1), .integer(2)]) == .invalidArgument)
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
