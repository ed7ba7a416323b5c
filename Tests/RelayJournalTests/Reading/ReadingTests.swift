import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal
import RelayWire

@Suite("Reading", .heavy, .tags(.g2)) struct ReadingTests {
    @Test("a page ends at the limit, at the bytes, and at the names") func bounds() async throws {
        let ledger = try Ledger(TestFolder())
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
    @Test("G2: a page of a rare name has its events, whatever lies between them") func rare() async throws {
        let ledger = try Ledger(TestFolder())
        var closed: [UInt64] = []
        for (year, others) in [9_000, 5_000, 0, 4_500].enumerated() {
            try await ledger.storage.commit((0..<Int64(others)).map { LedgerEncoder.booked($0) })
            try await ledger.storage.commit([LedgerEncoder().encode(Closed(year: Int32(year)))])
            closed.append((closed.last ?? 0) + UInt64(others) + 1)
        }
        try await ledger.storage.commit((0..<4_200).map { LedgerEncoder.booked($0) })
        let first = try await ledger.page(names: ["Closed"])
        #expect(first.events.map(\.sequence) == closed && first.through == first.head && first.head == 22_704)
        let two = try await ledger.page(names: ["Closed"], limit: 2)
        #expect(
            two.events.map(\.sequence) == Array(closed[0...1]) && two.through >= closed[1] && two.through < closed[2])
        let none = try await ledger.page(names: ["Closed"], after: closed[3])
        #expect(none.events.isEmpty && none.through == none.head)
        #expect(try await ledger.all(names: ["Closed"]).map(\.sequence) == closed)
        #expect(try await ledger.all().map(\.sequence) == Array(1...22_704))
    }
    @Test("a page of a name that is too frequent to be walked is looked for in several steps") func steps() async throws
    {
        let ledger = try Ledger(TestFolder())
        try await ledger.storage.commit((0..<10_000).map { LedgerEncoder.booked($0) })
        let frequent = PageReader.walkLimit + 1
        try await ledger.storage.commit((0..<frequent).map { try LedgerEncoder().encode(Closed(year: Int32($0))) })
        let first = try await ledger.page(names: ["Closed"])
        #expect(first.events.first?.sequence == 10_001)
        let expected = Array(10_001...UInt64(10_000 + frequent))
        #expect(try await ledger.all(names: ["Closed"]).map(\.sequence) == expected)
    }
    @Test("numbers that another program put there since the start end no process") func hostileNumbers() async throws {
        let ledger = try Ledger(TestFolder())
        for amount in 0..<5 { try await ledger.book(Int64(amount)) }
        let other = try Database(ledger.directory.database, isReadOnly: false, vfs: nil)
        other.keepLogAtClose(true)
        try other.execute("UPDATE relay_names SET pruned = -1")
        #expect(try await ledger.page().oldest == .max)
        try other.execute("UPDATE relay_interfaces SET sequence = -1, events = 0, bytes = -1")
        let figures = try await ledger.storage.figures(of: Ledger1.name)
        #expect(figures.first { $0.name == "oldest" }?.value == .max)
        #expect(try await ledger.page(after: .max - 1).events.isEmpty)
    }
    @Test("a row that says what cannot be is passed over by no walk") func contradiction() async throws {
        let ledger = try Ledger(TestFolder())
        for year in 0..<3 {
            try await ledger.storage.commit((0..<4_100).map { LedgerEncoder.booked($0) })
            try await ledger.storage.commit([LedgerEncoder().encode(Closed(year: Int32(year)))])
        }
        // The last one says of itself that it is the first.
        let other = try Database(ledger.directory.database, isReadOnly: false, vfs: nil)
        try other.execute(
            "UPDATE relay_events SET body = (SELECT body FROM relay_events WHERE sequence = 4101) WHERE sequence = 12303"
        )
        #expect(try await ledger.all(names: ["Closed"]).map(\.sequence) == [4_101, 8_202, 12_303])
    }
    @Test("a page is of one run; runs without events are passed over") func runs() async throws {
        let directory = try TestFolder()
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
    @Test("which run a sequence is of, and where a run ends") func table() throws {
        let database = try Database(":memory:", isReadOnly: false, vfs: nil)
        try JournalSchema.make(in: database)
        try database.execute("INSERT INTO relay_interfaces VALUES (1, 'a', 0, 0, 0, 0), (2, 'b', 0, 0, 0, 0)")
        let rows = try RunRows(database)
        #expect(try rows.run(of: 3, in: 1).epoch == 0 && rows.run(7, of: 1) == nil)
        for (epoch, first) in [(1, 1), (2, 1), (3, 5), (.max, 9), (5, 9)] as [(UInt64, UInt64)] {
            try rows.begin(StreamRun(epoch: epoch, first: first), of: 1, isOpen: nil)
            try rows.begin(StreamRun(epoch: epoch, first: 1), of: 2, isOpen: nil)
        }
        let sequences: [UInt64] = [0, 1, 4, 5, 8, 9, .max]
        #expect(try sequences.map { try rows.run(of: $0, in: 1).epoch } == [2, 2, 2, 3, 3, 5, 5])
        #expect(try [0, 4, 5, 8, 9].map { try rows.run(of: $0, in: 1).end } == [4, 4, 8, 8, .max])
        #expect(
            try rows.run(1, of: 1) == LoggedRun(first: 1, end: 0) && rows.run(2, of: 1) == LoggedRun(first: 1, end: 4))
        #expect(try rows.run(.max, of: 1) == LoggedRun(first: 9, end: 8))
        #expect(try rows.run(5, of: 1) == LoggedRun(first: 9, end: nil) && rows.run(4, of: 1) == nil)
        let recent = try rows.recent(of: 1, most: 2)
        #expect(recent.runs.map(\.epoch) == [.max, 5] && recent.sample?.map(\.epoch) == [2, 3, 5])
        #expect(try rows.recent(of: 1, most: 5).sample == nil && rows.recent(of: 1, most: 5).runs.count == 5)
    }
    @Test("schemas of rows outlive the contract that wrote them") func schemas() async throws {
        let directory = try TestFolder()
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
    @Test("threads that read leave the processors to those that commit") func niceness() async throws {
        let ledger = try Ledger(TestFolder())
        let (threads, isDone) = AsyncStream.makeStream(of: Int32.self)
        // The completion comes on a thread that reads.
        ledger.storage.read(LogRequest(interface: Ledger1.name, names: nil, after: 0, limit: 1, byteLimit: 1)) { _ in
            isDone.yield(getpriority(Int32(PRIO_PROCESS.rawValue), 0))
            isDone.finish()
        }
        for await niceness in threads { #expect(niceness >= 10) }
    }
    @Test("of an interface that is not there, nothing can be read") func stranger() async throws {
        let ledger = try Ledger(TestFolder())
        let error = await #expect(throws: RelayError.self) {
            _ = try await ledger.storage.figures(of: "org.example.No1")
        }
        #expect(error?.code == .notFound && error?.message.contains("org.example.No1") == true)
    }
    @Test("a long read transaction of another program does not hold up commits") func longRead() async throws {
        let ledger = try Ledger(TestFolder())
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
