import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// Files that were made to hold up or to crash whoever looks at them.
@Suite("Hostile journals", .heavy, .tags(.g8)) struct HostileFileTests {
    /// By SQLite without the library's settings: as an attacker has it.
    private func edit(_ copy: JournalCopy, _ sql: String, _ location: SourceLocation = #_sourceLocation) {
        var handle: OpaquePointer?
        #expect(sqlite3_open(copy.path, &handle) == SQLITE_OK, sourceLocation: location)
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        #expect(
            code == SQLITE_OK, "\(sqlite3_errmsg(handle).map { String(cString: $0) } ?? "")", sourceLocation: location)
        sqlite3_close(handle)
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
                    + "SELECT i AS id, 'x' AS name, 0 AS sequence, 0 AS events, 0 AS bytes FROM n", "relay_interfaces"
            ),
            (
                "DROP TABLE relay_runs; CREATE VIEW relay_runs AS \(endless) "
                    + "SELECT 1 AS interface, i AS epoch, 1 AS first FROM n", "relay_runs"
            ),
            (
                "DROP TABLE relay_events; CREATE VIEW relay_events AS \(endless) SELECT 1 AS interface, i AS sequence, "
                    + "'Booked' AS name, 1 AS schema, 0 AS time, x'' AS body FROM n", "no tables of the journal's"
            ),
            (
                "DROP TABLE relay_runs; CREATE VIRTUAL TABLE relay_runs USING fts5(interface, epoch, first)",
                "relay_runs"
            ),
            ("ALTER TABLE relay_names ADD COLUMN more AS (hex(zeroblob(100000000)))", "relay_names"),
            ("CREATE TRIGGER t AFTER INSERT ON relay_runs BEGIN DELETE FROM relay_events; END", "relay_runs"),
        ])
    func disguised(sql: String, table: String) async throws {
        let copy = try await JournalCopy.ended()
        edit(copy, sql)
        for error in try refusals(copy) {
            #expect(error.map { UnfitJournal.explains($0) } == true, "\(String(describing: error))")
            #expect(error?.message.contains(table) == true, "\(String(describing: error))")
        }
    }
    @Test("a view that its row calls a table") func lying() async throws {
        let copy = try await JournalCopy.ended()
        edit(
            copy,
            "DROP TABLE relay_interfaces; CREATE VIEW relay_interfaces AS \(Self.endless) SELECT i AS id, 'x' AS name, "
                + "0 AS sequence, 0 AS events, 0 AS bytes FROM n; PRAGMA writable_schema = ON; "
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
