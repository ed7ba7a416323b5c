import CSQLite
import RelayCore
import RelayTestKit
import Testing

@testable import RelayJournal

@Suite("Reading") struct ReadingTests {
    @Test("a page ends at the limit, at the bytes, and at the names") func bounds() async throws {
        let ledger = try Ledger(TestDirectory())
        for amount in 0..<20 { try await ledger.book(Int64(amount)) }
        try await ledger.storage.commit([LedgerEncoder().encode(Closed(year: 1))])
        let few = try await ledger.page(after: 5, limit: 3)
        #expect(few.events.map(\.sequence) == [6, 7, 8] && few.through == 8 && few.head == 21)
        let one = try await ledger.page(bytes: 1)
        #expect(one.events.map(\.sequence) == [1] && one.through == 1)
        let rare = try await ledger.page(names: ["Closed"])
        #expect(rare.events.map(\.sequence) == [21] && rare.events.map(\.name) == ["Closed"] && rare.through == 21)
        let none = try await ledger.page(names: ["Nothing"])
        #expect(none.events.isEmpty && none.through == 21 && none.oldest == 1)
        #expect(try await ledger.page(names: []).events.isEmpty)
        let end = try await ledger.page(after: 21)
        #expect(end.events.isEmpty && end.through == 21)
        let beyond = try await ledger.page(after: .max)
        #expect(beyond.events.isEmpty && beyond.through == .max && beyond.head == 21)
    }
    @Test("a page that looked at enough ends, and says how far it got") func scan() async throws {
        let ledger = try Ledger(TestDirectory())
        try await ledger.storage.commit((0..<10_000).map { LedgerEncoder.booked($0) })
        try await ledger.storage.commit([LedgerEncoder().encode(Closed(year: 1))])
        let first = try await ledger.page(names: ["Closed"])
        #expect(first.events.isEmpty && first.through == UInt64(PageReader.scanLimit) && first.head == 10_001)
        #expect(try await ledger.all(names: ["Closed"]).map(\.sequence) == [10_001])
        #expect(try await ledger.all().map(\.sequence) == Array(1...10_001))
    }
    @Test("a page is of one run; runs without events are passed over") func runs() async throws {
        let directory = try TestDirectory()
        for epoch in [UInt64(11), 12, 13] {
            let ledger = try Ledger(directory, epoch: epoch)
            if epoch != 12 { try await ledger.book(1, 2) }
            ledger.journal.close()
        }
        let ledger = try Ledger(directory, epoch: 14)
        let pages = [try await ledger.page(), try await ledger.page(after: 1), try await ledger.page(after: 2)]
        #expect(pages.map(\.epoch) == [11, 11, 13] && pages.map(\.through) == [2, 2, 4])
        #expect(pages.map(\.events.count) == [2, 1, 2])
        let none = try await ledger.page(names: ["Closed"])
        #expect(none.epoch == 13 && none.through == 4)
        #expect(try await ledger.page(after: 4).epoch == 13)
    }
    @Test("which run a sequence is of") func table() {
        let table = RunTable([
            .init(epoch: 1, first: 1), .init(epoch: 2, first: 1), .init(epoch: 3, first: 5), .init(epoch: 4, first: 9),
        ])
        #expect([0, 1, 4, 5, 8, 9, .max].map { table.run(of: $0).epoch } == [2, 2, 2, 3, 3, 4, 4])
        #expect([0, 4, 5, 8, 9].map { table.run(of: $0).end } == [4, 4, 8, 8, .max])
        #expect(RunTable([]).run(of: 3).epoch == 0)
    }
    @Test("schemas of rows outlive the contract that wrote them") func schemas() async throws {
        let directory = try TestDirectory()
        let old = try Ledger(directory)
        #expect(old.run.schemas.count == 2)
        try await old.book(1)
        old.journal.close()
        var changed = LedgerEncoder.schemas
        changed[0].fields.append(
            WireField(name: "note", type: .optional(.structure([WireField(name: "a", type: .string)]))))
        let new = try Ledger(directory, epoch: 2, schemas: changed)
        #expect(new.run.schemas.count == 3)
        try await new.book(2)
        let events = try await new.all()
        #expect(events.map { new.run.schemas[$0.schema]?.fields.count } == [2, 3])
        #expect(new.run.schemas[events[1].schema] == changed[0])
        new.journal.close()
        // The present one is the one with the highest number.
        let again = try Ledger(directory, epoch: 3)
        let numbers = again.run.schemas.filter { $0.value.event == "Booked" }.keys.sorted()
        #expect(numbers.count == 3 && again.run.schemas[numbers[2]] == LedgerEncoder.schemas[0])
        again.journal.close()
        #expect(try Ledger(directory, epoch: 4).run.schemas.count == 4)
    }
    @Test("of an interface that is not there, nothing can be read") func stranger() async throws {
        let ledger = try Ledger(TestDirectory())
        let error = await #expect(throws: RelayError.self) {
            _ = try await ledger.storage.figures(of: "org.example.No1")
        }
        #expect(error?.code == .notFound && error?.message.contains("org.example.No1") == true)
    }
    @Test("a long read transaction of another program does not hold up commits") func longRead() async throws {
        let ledger = try Ledger(TestDirectory())
        try await ledger.book(0)
        let other = try Database(ledger.directory.database, isReadOnly: true, vfs: nil)
        try other.execute("BEGIN")
        #expect(try other.integers("SELECT count(*) FROM relay_events") == [1])
        // More than a checkpoint's worth.
        let text = String(repeating: "x", count: 4_000)
        for amount in 0..<3_000 { try await ledger.storage.commit([LedgerEncoder.booked(Int64(amount), text)]) }
        #expect(try other.integers("SELECT count(*) FROM relay_events") == [1])
        try other.execute("COMMIT")
        #expect(try await ledger.page(after: 3_000).events.map(\.sequence) == [3_001])
    }
}
