import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

private enum Priority: Int, SQLStorable, Codable { case normal, urgent }
private enum Room: String, Codable { case attic, cellar }
private struct Box: Decodable, Equatable {
    var id: Int64, label: String, isFull: Bool
    var weight: Double?
    var priority: Priority, room: Room
}

@Suite("Statements, and rows as values", .tags(.g8)) struct SQLTests {
    @Test("what is interpolated is a parameter, whatever it holds; one text serves all values") func parameters() throws
    {
        let hostile = "'); DROP TABLE box; --"
        let sql: SQL = "INSERT INTO box VALUES (\(7), \(hostile), \(Int?.none), \(Priority.urgent), \([UInt8]([1])))"
        #expect(sql.text == "INSERT INTO box VALUES (?, ?, ?, ?, ?)")
        #expect(try sql.parameters() == [.integer(7), .text(hostile), .null, .integer(1), .blob([1])])
        let same: SQL = "SELECT \(SQLValue.real(1.5)) FROM \(verbatim: "box") WHERE id = \(Int?(3))"
        #expect(same.text == "SELECT ? FROM box WHERE id = ?")
        #expect(try same.parameters() == [.real(1.5), .integer(3)])
        #expect(try ("SELECT 1" as SQL).parameters().isEmpty)
    }
    @Test("a value that no column can hold is the statement's error") func unfit() async throws {
        let ledger = try Ledger(TestFolder())
        for sql in ["SELECT \(UInt64.max)", "SELECT \(Double.nan), \(1)"] as [SQL] {
            let error = await #expect(throws: RelayError.self) {
                try await ledger.journal.unitOfWork { try $0.execute(sql) }
            }
            #expect(error?.code == .invalidArgument)
        }
    }
    @Test("rows are decoded by name, in any case; a value that a column can hold is the first one") func decoding()
        async throws
    {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (ID, label, isfull, weight, priority, room)")
            try unit.execute(
                "INSERT INTO box VALUES (1, 'Tea', TRUE, NULL, 1, 'attic'), (2, 'Cup', 0, 1.5, 0, 'cellar')")
            let boxes = try unit.query("SELECT * FROM box ORDER BY id", as: Box.self)
            #expect(
                boxes == [
                    Box(id: 1, label: "Tea", isFull: true, weight: nil, priority: .urgent, room: .attic),
                    Box(id: 2, label: "Cup", isFull: false, weight: 1.5, priority: .normal, room: .cellar),
                ])
            #expect(try unit.query("SELECT label FROM box ORDER BY id", as: String.self) == ["Tea", "Cup"])
            #expect(try unit.query("SELECT weight FROM box ORDER BY id", as: Double?.self) == [nil, 1.5])
            let count: [Int] = try unit.query("SELECT count(*) FROM box")
            #expect(count == [2])
        }
        let labels = try await ledger.journal.read {
            try $0.query("SELECT label FROM box ORDER BY id", as: String.self)
        }
        #expect(labels == ["Tea", "Cup"])
    }
    @Test(
        "a row that does not fit is an error that names the column, and never its value",
        arguments: [
            ("SELECT 1 AS id, 'secret' AS label, 1 AS isFull, 1 AS priority, 'attic' AS room", "weight"),
            (
                "SELECT 1 AS id, 'x' AS label, 'secret' AS isFull, NULL AS weight, 1 AS priority, 'attic' AS room",
                "isFull"
            ),
            ("SELECT NULL AS id, 'x' AS label, 1 AS isFull, NULL AS weight, 1 AS priority, 'attic' AS room", "id"),
            ("SELECT 1 AS id, 'x' AS label, 1 AS isFull, NULL AS weight, 7 AS priority, 'attic' AS room", "priority"),
        ])
    func misfits(sql: String, column: String) async throws {
        let ledger = try Ledger(TestFolder())
        let read = { try await ledger.journal.unitOfWork { unit in try unit.query(SQL(sql), as: Box.self).count } }
        // A column that is missing is nil to a property that may be.
        if column == "weight" {
            let count = try await read()
            #expect(count == 1)
            return
        }
        let error = await #expect(throws: RelayError.self) { try await read() }
        #expect(error?.code == .schemaMismatch && error?.message.contains("'\(column)'") == true)
        #expect(error?.message.contains("secret") == false)
    }
    @Test("stamps and positions come back of one column") func places() async throws {
        let ledger = try Ledger(TestFolder())
        let stamp = Stamp(
            epoch: .max, sequence: 1 << 40, previous: 0, publishedAt: Timestamp(microseconds: 1_800_000_000_000_000))
        let positions: [StreamPosition] = [
            .now, .beginning, .after(stamp), .since(stamp.publishedAt), .resuming("box-1"),
            .resuming("box_2", restartsIfDamaged: true), StreamPosition(.at(7)),
        ]
        try await ledger.journal.unitOfWork { unit in
            let stamps = try unit.query("SELECT \(stamp)") { try $0[0, as: Stamp.self] }
            #expect(stamps == [stamp])
            for position in positions {
                let found = try unit.query("SELECT \(position)") { try $0[0, as: StreamPosition.self] }
                #expect(found == [position])
            }
            for text in ["", "after", "after:1", "after:1:2:3", "after:x:1", "now:", "resuming:", "1:2:3", "nowhere"] {
                #expect(StreamPosition(stored: .text(text)) == nil && Stamp(stored: .text(text)) == nil, "\(text)")
            }
            #expect(StreamPosition(stored: .integer(1)) == nil)
        }
    }
    @Test("a gap gives a position where its end is known") func gaps() {
        let gap = Gap(3...7, epoch: 9, count: 5, reason: .expired)
        #expect(StreamPosition.after(gap) == .after(epoch: 9, sequence: 7))
        #expect(StreamPosition.after(Gap(3...(.max), epoch: 9, count: nil, reason: .epochChanged)) == nil)
        #expect(StreamPosition.after(Gap(1...(.max), epoch: 0, count: nil, reason: .notFollowed)) == nil)
    }
}
