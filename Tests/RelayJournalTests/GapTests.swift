import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal

@Suite("Sequences that a journal never had", .heavy, .tags(.g2)) struct GapTests {
    private func skip(_ ledger: Ledger, through last: UInt64, then amounts: Int64...) async throws {
        try await ledger.journal.unitOfWork { unit in
            try unit.skip(through: last, in: Ledger1.name)
            for amount in amounts { try unit.publish(Booked(amount: amount, text: "")) }
        }
    }
    @Test("events come behind a gap, whose range is in the page; a start goes on behind it") func pages() async throws {
        let directory = try TestFolder()
        let ledger = try Ledger(directory)
        try await ledger.book(1, 2)
        try await skip(ledger, through: 9, then: 3)
        try await ledger.book(4)
        try await skip(ledger, through: 15)
        #expect(ledger.stream.sequences == [1, 2, 10, 11])
        func check(_ ledger: Ledger) async throws {
            let page = try await ledger.page()
            #expect(page.events.map(\.sequence) == [1, 2, 10, 11] && page.gaps == [3...9, 12...15])
            #expect(page.through == 15 && page.head == 15 && page.oldest == 1)
            // Of a page that is cut, or begins within.
            #expect(try await ledger.page(limit: 2).gaps.isEmpty)
            #expect(try await ledger.page(limit: 3).gaps == [3...9])
            #expect(try await ledger.page(after: 5, limit: 1).gaps == [6...9])
            #expect(try await ledger.page(names: ["Closed"], after: 10).gaps == [12...15])
            #expect(try await ledger.page(after: 15).gaps.isEmpty)
            // The first event of a name behind a gap does not claim to know the one before.
            #expect(page.events.map { Stamped($0.body).previous } == [0, 1, 9, 10])
            let figures = try await ledger.storage.figures(of: Ledger1.name)
            #expect(figures.first { $0.name == "oldest" }?.value == 1)
            #expect(figures.first { $0.name == "missing" }?.value == 11)
            ledger.journal.close()
        }
        try await check(ledger)
        try await check(Ledger(directory, epoch: 2))
        let last = try Ledger(directory, epoch: 3)
        #expect(last.run.gaps == [3...9, 12...15] && last.run.head == 15)
        // An event of either name may be in the last one.
        #expect(last.run.last == ["Booked": 15, "Closed": 15])
        try await last.book(5)
        #expect(last.stream.emitted.map { Stamped($0.body).previous } == [15])
        last.journal.close()
        #expect(try JournalInspection(directory: directory.path).check().events == 5)
    }
    @Test("rare names are found on both sides of a gap") func rare() async throws {
        let ledger = try Ledger(TestFolder())
        let closed = try LedgerEncoder().encode(Closed(year: 1))
        for _ in 0..<2 {
            try await ledger.storage.commit([closed])
            try await ledger.storage.commit((0..<9_000).map { LedgerEncoder.booked($0) })
            try await ledger.storage.commit([closed])
            let head = UInt64(ledger.stream.sequences.last ?? 0)
            try await skip(ledger, through: head + 1_000)
        }
        #expect(try await ledger.all(names: ["Closed"]).map(\.sequence) == [1, 9_002, 10_003, 19_004])
    }
    @Test("a page has a bounded number of gaps, and the next one goes on") func many() async throws {
        let ledger = try Ledger(TestFolder(), synchronous: .normal)
        let count = LogPage.mostGaps + 10
        for _ in 0..<count {
            let last = ledger.stream.sequences.last ?? 0
            try await skip(ledger, through: last + 1, then: 1)
        }
        let first = try await ledger.page(names: ["Closed"])
        #expect(first.gaps.count == LogPage.mostGaps && first.through < first.head)
        let second = try await ledger.page(names: ["Closed"], after: first.through)
        #expect(second.gaps.count == 10 && second.through == second.head)
    }
    @Test("retention removes a gap with the events before it, and says so of every name") func pruned() async throws {
        let directory = try TestFolder()
        let ledger = try Ledger(directory)
        try await ledger.storage.commit([LedgerEncoder().encode(Closed(year: 1))])
        try await ledger.book(1, 2)
        try await skip(ledger, through: 20, then: 3, 4)
        ledger.journal.close()
        let short = try Ledger(directory, epoch: 2, retention: Retention(count: 2))
        #expect(await eventually { short.stream.pruned == ["Booked": 20, "Closed": 20] })
        let page = try await short.page(names: ["Closed"])
        #expect(page.oldest == 21 && page.gaps.isEmpty && page.through == 22)
        short.journal.close()
        let again = try Ledger(directory, epoch: 3)
        #expect(again.run.pruned == ["Booked": 20, "Closed": 20] && again.run.gaps.isEmpty)
        #expect(again.run.last["Closed"] == 20)
        again.journal.close()
        #expect(try JournalInspection(directory: directory.path).check().events == 2)
    }
    @Test("what is there cannot be left out, and a unit that fails leaves nothing out") func refused() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.book(1, 2)
        for last in [UInt64(0), 2, .max] {
            let error = await #expect(throws: RelayError.self) { try await skip(ledger, through: last) }
            #expect(error?.code == .invalidArgument && error?.message.contains("it has come to 2") == true)
        }
        await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in try unit.skip(through: 9, in: "org.example.Other1") }
        }
        await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.skip(through: 9, in: Ledger1.name)
                throw RelayError(.conflict, "no")
            }
        }
        await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.publish(Booked(amount: 1, text: ""))
                try unit.skip(through: 9, in: Ledger1.name)
            }
        }
        try await ledger.book(3)
        #expect(ledger.stream.sequences == [1, 2, 3])
        let page = try await ledger.page()
        #expect(page.gaps.isEmpty)
    }
    @Test("an open run goes on under its epoch, and is closed; the journal's identity stays") func open() async throws {
        let directory = try TestFolder()
        func begin(_ epoch: UInt64, _ isOpen: Bool?) throws -> LogSnapshot {
            let journal = try EventJournal(directory: directory.path)
            let interface = LoggedInterface(
                name: Ledger1.name, epoch: epoch, retention: Retention(), events: LedgerEncoder.schemas,
                stream: RecordingStream(), isOpen: isOpen)
            defer { journal.close() }
            return try journal.access.storage.open([interface], encoder: LedgerEncoder())[0]
        }
        func isOpen() throws -> [Int64]? {
            try Database(directory.database, isReadOnly: true, vfs: nil).integers(
                "SELECT epoch, open FROM relay_runs ORDER BY rowid DESC LIMIT 1")
        }
        #expect(try begin(5, true).runs.map(\.epoch) == [5] && isOpen() == [5, 1])
        #expect(try begin(5, true).runs.map(\.epoch) == [5])
        #expect(try begin(5, false).runs.map(\.epoch) == [5] && isOpen() == [5, 0])
        #expect(try begin(6, true).runs.map(\.epoch) == [5, 6] && isOpen() == [6, 1])
        #expect(try begin(7, nil).journal == 5)
        #expect(try isOpen() == [7, 0])
        // In a copy, too.
        let copy = try TestFolder()
        _ = try JournalInspection(directory: directory.path).copy(to: copy.database)
        #expect(try Ledger(copy, epoch: 8).run.journal == 5)
    }
}
