import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("A disk that cannot be read", .heavy, .tags(.g8)) struct ReadErrorTests {
    private func isOfTheDisk(_ error: RelayError?) -> Bool {
        guard let error else { return false }
        return error.code == .unavailable && !error.message.contains("damaged") && !UnfitJournal.explains(error)
    }

    @Test("an I/O error at any read of a start is reported as one, not as damage, and the next start has all")
    func opening() async throws {
        let disk = try FaultDisk()
        let directory = try TestFolder()
        do {
            let ledger = try Ledger(directory, vfs: disk.name)
            for amount in 1...20 as ClosedRange<Int64> { try await ledger.book(amount) }
            // Leaves the WAL.
            disk.fail(.sync, with: .syncing, of: "-wal")
            await #expect(throws: RelayError.self) { try await ledger.book(21) }
            ledger.journal.close()
        }
        var (skipped, refusals, epoch) = (0, 0, 2 as UInt64)
        while true {
            let before = disk.calls(.read)
            disk.fail(.read, with: .reading, skipping: skipped)
            var isOver = false
            do {
                let ledger = try Ledger(directory, epoch: epoch, vfs: disk.name)
                isOver = disk.calls(.read) - before <= skipped
                disk.heal(.read)
                #expect([20, 21].contains(ledger.run.head))
                ledger.journal.close()
            } catch let error as RelayError {
                refusals += 1
                #expect(isOfTheDisk(error), "read \(skipped): \(error)")
            }
            disk.heal(.read)
            if isOver { break }
            (skipped, epoch) = (skipped + 1, epoch + 1)
        }
        #expect(refusals > 5)
        let ledger = try Ledger(directory, epoch: epoch + 1, vfs: disk.name)
        #expect(try await Array(ledger.all().map { Stamped($0.body).amount }.prefix(20)) == Array(1...20))
    }

    @Test("an I/O error at a read of a page or a unit fails that one, and the journal goes on")
    func running() async throws {
        let disk = try FaultDisk()
        let ledger = try Ledger(TestFolder(), faults: disk.faults, vfs: disk.name)
        let text = String(repeating: "x", count: 3_000)
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (label TEXT)")
            for number in 0..<100 as Range<Int64> {
                try unit.execute(SQL("INSERT INTO box VALUES (?)", [.text(text)]))
                try unit.publish(Booked(amount: number, text: text))
            }
        }
        guard let storage = ledger.storage as? JournalStorage else { return }
        // So that there is something to read.
        await storage.call { _ = try? $0.database.execute("PRAGMA cache_size = 10; PRAGMA shrink_memory") }

        disk.fail(.read, with: .reading, count: nil)
        let ofPage = await #expect(throws: RelayError.self) { _ = try await ledger.page() }
        #expect(isOfTheDisk(ofPage), "\(ofPage.map { "\($0)" } ?? "")")
        let ofUnit = await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in
                _ = try unit.query("SELECT sum(length(label)) FROM box") { $0.integer(0) }
                try unit.publish(Booked(amount: 100, text: ""))
            }
        }
        #expect(isOfTheDisk(ofUnit) && ofUnit?.message.contains("nothing was done") == true)
        disk.heal(.read)
        #expect(try await ledger.all().count == 100)
        try await ledger.book(101)
        #expect(ledger.stream.sequences == Array(1...101))
    }
}
