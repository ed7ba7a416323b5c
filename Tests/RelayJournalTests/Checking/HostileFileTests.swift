import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// Files that were made to hold up or to crash whoever looks at them.
@Suite("Hostile journals", .heavy, .tags(.g8)) struct HostileFileTests {
    /// As an attacker has it.
    private func edit(_ copy: JournalCopy, _ sql: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(throws: Never.self, sourceLocation: location) { try RawSQLite(copy.path).execute(sql) }
    }
    /// The file's refusal by a check, by a backup and by a start, which must end.
    private func refusals(_ copy: JournalCopy, _ location: SourceLocation = #_sourceLocation) throws -> [RelayError?] {
        let target = try TestFolder()
        let inspection = JournalInspection(file: copy.path)
        return [
            #expect(throws: RelayError.self, sourceLocation: location) { try inspection.check() },
            #expect(throws: RelayError.self, sourceLocation: location) {
                try inspection.copy(to: target.path + "/copy.sqlite")
            },
            copy.refusal(location),
        ]
    }

    static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    @Test(
        "tables that are views, virtual, computed or watched",
        arguments: [
            (
                "DROP TABLE relay_interfaces; CREATE VIEW relay_interfaces AS \(endless) "
                    + "SELECT i AS id, 'x' AS name, 0 AS sequence, 0 AS events, 0 AS bytes, 0 AS tail FROM n",
                "relay_interfaces"
            ),
            (
                "DROP TABLE relay_runs; CREATE VIEW relay_runs AS \(endless) "
                    + "SELECT 1 AS interface, i AS epoch, 1 AS first FROM n", "relay_runs"
            ),
            (
                "DROP TABLE relay_events; CREATE VIEW relay_events AS \(endless) SELECT 1 AS interface, i AS sequence, "
                    + "1 AS schema, 0 AS time, 0 AS part, 0 AS size, x'' AS body FROM n", "no tables of the journal's"
            ),
            (
                "DROP TABLE relay_runs; CREATE VIRTUAL TABLE relay_runs USING fts5(interface, epoch, first)",
                "relay_runs"
            ),
            ("ALTER TABLE relay_names ADD COLUMN more AS (hex(zeroblob(100000000)))", "relay_names"),
            ("CREATE TRIGGER t AFTER INSERT ON relay_runs BEGIN DELETE FROM relay_events; END", "relay_runs"),
            ("CREATE TABLE box (x REFERENCES Relay_interfaces (events))", "box has a foreign key to Relay_interfaces"),
            ("CREATE TABLE \"RELAY_more\" (x)", "RELAY_more is no table of the journal's"),
            ("CREATE VIRTUAL TABLE relay USING fts5(text)", "relay"),
            ("CREATE INDEX i ON relay_runs (hex(zeroblob(first)))", "relay_runs has the index i"),
            ("CREATE UNIQUE INDEX i ON relay_events (sequence)", "relay_events has the index i"),
            ("CREATE INDEX relay_i ON relay_names (last)", "relay_names has the index relay_i"),
            ("DROP INDEX relay_runs_by_epoch", "it has no index relay_runs_by_epoch"),
            (
                "DROP INDEX relay_runs_by_epoch; CREATE INDEX relay_runs_by_epoch ON relay_runs (epoch)",
                "relay_runs_by_epoch is defined otherwise"
            ),
            ("ALTER TABLE relay_events ADD COLUMN more CHECK (more IS NULL)", "relay_events is defined otherwise"),
            ("CREATE TABLE pragma_foreign_key_list (x)", "pragma_foreign_key_list would hide a function"),
            (
                "CREATE TABLE box (x REFERENCES relay_events); CREATE VIEW Pragma_Foreign_Key_List AS SELECT 1 AS x",
                "Pragma_Foreign_Key_List would hide a function"
            ),
            ("CREATE VIRTUAL TABLE pragma_page_count USING fts5(page_count)", "pragma_page_count would hide"),
        ])
    func disguised(sql: String, table: String) async throws {
        let copy = try await JournalCopy.ended()
        edit(copy, sql)
        for error in try refusals(copy) {
            #expect(error.map { UnfitJournal.explains($0) } == true, "\(String(describing: error))")
            #expect(error?.message.contains(table) == true, "\(String(describing: error))")
        }
    }
    @Test(
        "names that are longer than D-Bus has them, and texts that are longer than anything that was written",
        arguments: [
            ("UPDATE relay_interfaces SET name = name || hex(zeroblob(200))", "has 419 bytes"),
            (
                "UPDATE relay_names SET name = name || hex(zeroblob(200)); "
                    + "UPDATE relay_schemas SET name = name || hex(zeroblob(200))", "has 406 bytes"
            ),
            ("UPDATE relay_schemas SET name = name || hex(zeroblob(200))", "has 406 bytes"),
            ("UPDATE relay_schemas SET fields = hex(zeroblob(4000000))", "too big"),
            ("CREATE VIEW v AS SELECT 1 AS x /* \(String(repeating: "x", count: 5 << 20)) */", "too big"),
        ])
    func long(sql: String, words: String) async throws {
        let copy = try await JournalCopy.ended()
        edit(copy, sql)
        for error in try refusals(copy) {
            #expect(error.map { UnfitJournal.explains($0) } == true, "\(String(describing: error))")
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }
    @Test("of a foreign key to its tables, which is no damage, a refusal reports what to do") func references()
        async throws
    {
        let copy = try await JournalCopy.ended()
        edit(copy, "CREATE TABLE box (x REFERENCES relay_events)")
        let error = copy.refusal()
        #expect(error?.code == .invalidArgument && error?.message.contains("damaged") == false)
        #expect(error?.message.contains("make that table anew without the key") == true)
        edit(copy, "DROP TABLE box; CREATE TABLE relay (x)")
        #expect(try JournalInspection(file: copy.path).check().events == 200)
        try EventJournal(directory: copy.directory.path).close()
    }
    @Test("the tables that are made are those that a start accepts") func made() throws {
        let database = try Database(":memory:", isReadOnly: false, vfs: nil)
        try JournalSchema.make(in: database)
        #expect(try JournalExamination(database: database).disguise() == nil)
    }
    @Test("a row and a document that are longer than the journal writes") func oversized() async throws {
        let row =
            "UPDATE relay_events SET body = zeroblob(5000000) WHERE sequence = 100;"
            + "UPDATE relay_interfaces SET bytes = (SELECT sum(length(body)) FROM relay_events)"
        let copy = try await JournalCopy.ended()
        edit(copy, row)
        let error = #expect(throws: RelayError.self) { try JournalInspection(file: copy.path).check() }
        #expect(error?.message.contains("has event #100 of 5000000 bytes, which no journal writes") == true)
        let document = try await JournalCopy.ended()
        edit(document, "INSERT INTO relay_documents VALUES (1, 'Booked', 1, 1, zeroblob(5000000), 0)")
        for error in try refusals(document) {
            #expect(error?.message.contains("the document Booked has 5000000 bytes") == true, "\(error as Any)")
        }
        // Beside the running service.
        let ledger = try Ledger(TestFolder())
        try await ledger.book(1, 2, 3)
        try Database(ledger.directory.database, isReadOnly: false, vfs: nil).execute(
            "UPDATE relay_events SET body = zeroblob(5000000) WHERE sequence = 2")
        let refusal = await #expect(throws: RelayError.self) { _ = try await ledger.page() }
        #expect(refusal?.message.contains("a row is longer than any that the journal writes") == true)
        #expect(try await ledger.page(after: 2).events.map(\.sequence) == [3])
    }
    @Test("as many names as rows, which a full check finds each by itself") func names() async throws {
        let copy = try await JournalCopy.ended()
        edit(
            copy,
            "UPDATE relay_events SET schema = 9 + sequence * 7 % 211; DELETE FROM relay_names; "
                + "INSERT INTO relay_schemas SELECT schema, 1, 'n' || schema, 'a:x' FROM relay_events; "
                + "INSERT INTO relay_names SELECT 1, 'n' || schema, sequence, 0 FROM relay_events")
        #expect(try JournalInspection(file: copy.path).check().events == 200)
        edit(copy, "UPDATE relay_events SET schema = 9 WHERE sequence = 100")
        let error = #expect(throws: RelayError.self) { try JournalInspection(file: copy.path).check() }
        #expect(error.map { UnfitJournal.explains($0) } == true)
    }
    @Test("a view that its row calls a table") func lying() async throws {
        let copy = try await JournalCopy.ended()
        edit(
            copy,
            "DROP TABLE relay_interfaces; CREATE VIEW relay_interfaces AS \(Self.endless) SELECT i AS id, 'x' AS name, "
                + "0 AS sequence, 0 AS events, 0 AS bytes, 0 AS tail FROM n; PRAGMA writable_schema = ON; "
                + "UPDATE sqlite_master SET type = 'table' WHERE name = 'relay_interfaces'")
        for error in try refusals(copy) { #expect(error.map { UnfitJournal.explains($0) } == true) }
    }
    @Test("views of views, of which each doubles the work") func nested() async throws {
        let copy = try await JournalCopy.ended()
        var sql = "CREATE VIEW v0 AS SELECT * FROM relay_runs; "
        for number in 1...60 {
            sql += "CREATE VIEW v\(number) AS SELECT a.* FROM v\(number - 1) a, v\(number - 1) b; "
        }
        // The domain may have views, and nobody needs to read them.
        edit(copy, sql)
        #expect(try JournalInspection(file: copy.path).check().events == 200)
        edit(copy, "DROP TABLE relay_names; CREATE VIEW relay_names AS SELECT * FROM v60")
        for error in try refusals(copy) { #expect(error.map { UnfitJournal.explains($0) } == true) }
    }
    @Test("pages that refer to the same pages again and again") func circles() async throws {
        let copy = try await JournalCopy.ended()
        let database = try Database(copy.path, isReadOnly: true, isImmutable: true, vfs: nil)
        let root = try #require(
            try database.integers("SELECT rootpage FROM sqlite_master WHERE name = 'relay_interfaces'")?.first)
        let pages = copy.bytes(copy.path).count / 4_096
        func four(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - $0 * 8)) } }
        /// An inner page of a table, with 300 children that are one.
        func inner(_ child: Int) -> [UInt8] {
            var page = [UInt8](repeating: 0, count: 4_096)
            let (cells, size) = (300, 6)
            let start = 4_096 - cells * size
            page.replaceSubrange(
                0..<12,
                with: [5, 0, 0, UInt8(cells >> 8), UInt8(cells & 255), UInt8(start >> 8), UInt8(start & 255), 0]
                    + four(child))
            for cell in 0..<cells {
                let place = start + cell * size
                page[12 + cell * 2] = UInt8(place >> 8)
                page[13 + cell * 2] = UInt8(place & 255)
                // The child, and the highest row below it, in two bytes of seven bits.
                page.replaceSubrange(
                    place..<place + 6, with: four(child) + [UInt8(0x80 | (cell + 1) >> 7), UInt8((cell + 1) & 0x7F)])
            }
            return page
        }
        let leaf = Array(copy.bytes(copy.path)[(Int(root) - 1) * 4_096..<Int(root) * 4_096])
        copy.write(inner(pages + 1), to: copy.path, at: (Int(root) - 1) * 4_096)
        for level in 1...10 { copy.write(inner(pages + level + 1), to: copy.path, at: (pages + level - 1) * 4_096) }
        copy.write(leaf, to: copy.path, at: (pages + 10) * 4_096)
        copy.write(four(pages + 11), to: copy.path, at: 28)
        for error in try refusals(copy) {
            #expect(error.map { UnfitJournal.explains($0) } == true, "\(String(describing: error))")
        }
        #expect(try refusals(copy)[0]?.message.contains(StepBudget.fault) == true)
    }
    /// Appends leaves with rows of a megabyte each, which have their ends in common, and makes them a table's.
    ///
    /// - Parameter row: a record's header and the values before the long one, whose `length` is given.
    private func share(
        _ copy: JournalCopy, _ table: String, rows: Int, filledWith text: StaticString,
        _ row: (_ length: Int, _ number: Int) -> [UInt8]
    ) throws {
        let pattern = Array("\(text)".utf8)
        func fill(_ count: Int, from start: Int) -> [UInt8] {
            (start..<start + count).map { pattern[$0 % pattern.count] }
        }
        let database = try Database(copy.path, isReadOnly: true, isImmutable: true, vfs: nil)
        let query = "SELECT rootpage FROM sqlite_master WHERE name = '\(table)'"
        let root = Int(try #require(try database.integers(query)?.first))
        func number(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> ((count - 1 - $0) * 8)) }
        }
        // Of each row so much is in its leaf, and the rest in so many pages, which are full.
        let (local, links, perLeaf) = (489, 255, 8)
        let size = local + links * 4_092
        let first = copy.bytes(copy.path).count / 4_096 + 1
        let head = row(size, 1).count
        // As many bytes as the pattern has, some times over.
        let tail = fill(4_092, from: local - head)
        for link in 0..<links {
            let next = link == links - 1 ? 0 : first + link + 1
            copy.write(
                number(next, 4) + tail, to: copy.path, at: (first + link - 1) * 4_096)
        }
        var (leaves, last): ([(page: Int, row: Int)], Int) = ([], 0)
        while last < rows {
            var (page, start) = ([UInt8](repeating: 0, count: 4_096), 4_096)
            for cell in 0..<perLeaf {
                last += 1
                let bytes =
                    varint(size) + varint(last) + row(size, last) + fill(local - head, from: 0) + number(first, 4)
                start -= bytes.count
                page.replaceSubrange(start..<start + bytes.count, with: bytes)
                page.replaceSubrange(8 + cell * 2..<10 + cell * 2, with: number(start, 2))
            }
            page.replaceSubrange(0..<8, with: [13, 0, 0] + number(perLeaf, 2) + number(start, 2) + [0])
            leaves.append((first + links + leaves.count, last))
            copy.write(page, to: copy.path, at: (leaves[leaves.count - 1].page - 1) * 4_096)
        }
        var (page, end) = ([UInt8](repeating: 0, count: 4_096), 4_096)
        for (cell, leaf) in leaves.dropLast().enumerated() {
            let bytes = number(leaf.page, 4) + varint(leaf.row)
            end -= bytes.count
            page.replaceSubrange(end..<end + bytes.count, with: bytes)
            page.replaceSubrange(12 + cell * 2..<14 + cell * 2, with: number(end, 2))
        }
        let rightmost = leaves[leaves.count - 1].page
        page.replaceSubrange(
            0..<12, with: [5, 0, 0] + number(leaves.count - 1, 2) + number(end, 2) + [0] + number(rightmost, 4))
        copy.write(page, to: copy.path, at: (root - 1) * 4_096)
        copy.write(number(rightmost, 4), to: copy.path, at: 28)
    }
    private func varint(_ number: Int) -> [UInt8] {
        var (bytes, rest) = ([UInt8(number & 0x7F)], number >> 7)
        while rest > 0 { (bytes, rest) = ([UInt8(0x80 | rest & 0x7F)] + bytes, rest >> 7) }
        return bytes
    }
    /// Schemas of a megabyte each, in a file of three: of long names without fields, or with long fields.
    private func withSchemas(ofName name: String?, filledWith text: StaticString) async throws -> JournalCopy {
        let copy = try await JournalCopy.ended()
        try share(copy, "relay_schemas", rows: 2_400, filledWith: text) { length, number in
            // The header's length and the types of number, interface and a short name have a byte each, a long one's three.
            // The number has two bytes.
            let values = [UInt8(number >> 8), UInt8(number & 0xFF), 1]
            guard let name else { return [6, 2, 1] + varint(13 + (length - 9) * 2) + values }
            let bytes = Array(name.utf8)
            return [7, 2, 1, UInt8(13 + bytes.count * 2)] + varint(13 + (length - 10 - bytes.count) * 2) + values
                + bytes
        }
        #expect(copy.bytes(copy.path).count < 3 << 20)
        return copy
    }
    @Test("values that have the same pages for their ends: as many as a small file can name") func shared() async throws
    {
        let copy = try await withSchemas(ofName: nil, filledWith: "x")
        for error in try refusals(copy) { #expect(error.map { UnfitJournal.explains($0) } == true) }
        #expect(copy.refusal()?.message.contains(StepBudget.fault) == true)
        // A file that is left in a transaction is read by the connection that undoes it.
        copy.write([UInt8](repeating: 0, count: 600), to: copy.path + "-journal")
        #expect(copy.refusal()?.message.contains(StepBudget.fault) == true)
    }
    @Test("the same, of which each is long work, too") func parsed() async throws {
        let copy = try await withSchemas(ofName: "Booked", filledWith: "x:i\n")
        #expect(copy.refusal()?.message.contains(StepBudget.fault) == true)
        #expect {
            _ = try ContractCheck.changes(of: Ledger1.self, fromJournalIn: copy.directory.path)
        } throws: { error in
            "\(error)".contains(StepBudget.fault)
        }
    }
    @Test("values of a size that no file has, and bytes at random") func random() async throws {
        let copy = try await JournalCopy.ended()
        let whole = copy.bytes(copy.path)
        edit(copy, "UPDATE relay_schemas SET fields = hex(zeroblob(4000000))")
        #expect(throws: RelayError.self) { try JournalInspection(file: copy.path).check() }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<TestForm.rounds(60, soak: 5_000) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                bytes[Int.random(in: 100..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            unlink(copy.path)
            copy.write(bytes, to: copy.path)
            // Sound, where only free bytes were hit; ended in any case.
            do { _ = try JournalInspection(file: copy.path).check() } catch {
                #expect(error is RelayError)
            }
        }
    }
}
