import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("A disk that fails", .heavy, .tags(.g5)) struct FailureTests {
    private func code(_ body: () async throws -> Void) async -> RelayError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? RelayError)?.code }
    }

    @Test("an fsync that fails at the commit: outcome unknown, and nothing more is taken") func syncing() async throws {
        let disk = try FaultDisk()
        let directory = try TestFolder()
        let failures = Mutex<[RelayError]>([])
        do {
            let ledger = try Ledger(directory, faults: disk.faults, vfs: disk.name)
            ledger.storage.onFailure { error in failures.withLock { $0.append(error) } }
            try await ledger.book(1)
            disk.fail(.sync, with: .syncing, of: "-wal")
            let error = await #expect(throws: RelayError.self) { try await ledger.book(2) }
            #expect(error?.code == .outcomeUnknown && error?.mayHaveRun == true)
            #expect((error?.cause as? SQLiteError)?.code == SQLITE_IOERR | 4 << 8)
            #expect(error?.message.contains(directory.database) == true)
            #expect(ledger.stream.sequences == [1])
            let later = await #expect(throws: RelayError.self) { try await ledger.book(3) }
            #expect(later?.code == .unavailable && later?.message.contains("restart") == true)
            #expect(await code { _ = try await ledger.page() } == .unavailable)
            #expect(await eventually { failures.withLock { $0.count } == 1 })
            ledger.storage.onFailure { error in failures.withLock { $0.append(error) } }
            #expect(failures.withLock { $0.map(\.code) } == [.outcomeUnknown, .outcomeUnknown])
            ledger.journal.close()
        }
        // The restart decides: either way without a hole.
        let ledger = try Ledger(directory, epoch: 2)
        #expect([1, 2].contains(ledger.run.head))
        try await ledger.book(3)
        #expect(try await ledger.all().map(\.sequence) == Array(1...ledger.run.head + 1))
    }
    @Test("a write that fails before the commit: nothing was done, and the journal goes on") func writing() async throws
    {
        let disk = try FaultDisk()
        let ledger = try Ledger(TestFolder(), faults: disk.faults, vfs: disk.name)
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        // More than the cache holds is written before the commit.
        let big = String(repeating: "x", count: 1 << 20)
        disk.fail(.write, with: .writing, of: "-wal")
        let error = await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in
                for _ in 0..<40 { try unit.execute(SQL("INSERT INTO box VALUES (?)", [.text(big)])) }
                try unit.publish(Booked(amount: 1, text: ""))
            }
        }
        #expect(error?.code == .unavailable && error?.message.contains("nothing was done") == true)
        try await ledger.book(2)
        #expect(ledger.stream.sequences == [1])
        #expect(
            try await ledger.journal.unitOfWork { try $0.query("SELECT count(*) FROM box") { $0.integer(0) } } == [0])
    }
    @Test("a unit that catches the disk's error cannot commit a half") func caught() async throws {
        let disk = try FaultDisk()
        let ledger = try Ledger(TestFolder(), faults: disk.faults, vfs: disk.name)
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        let big = String(repeating: "x", count: 1 << 20)
        disk.fail(.write, with: .full, of: "-wal")
        let error = await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in
                for _ in 0..<40 { _ = try? unit.execute(SQL("INSERT INTO box VALUES (?)", [.text(big)])) }
                try? unit.publish(Booked(amount: 1, text: ""))
            }
        }
        #expect(error?.code == .storageFull)
        try await ledger.book(2)
        #expect(ledger.stream.sequences == [1])
        #expect(
            try await ledger.journal.unitOfWork { try $0.query("SELECT count(*) FROM box") { $0.integer(0) } } == [0])
    }
    @Test("no room: refused, nothing published; goes on when there is room")
    func quota() async throws {
        let disk = try FaultDisk()
        let directory = try TestFolder()
        let ledger = try Ledger(directory, faults: disk.faults, vfs: disk.name)
        try await ledger.book(1)
        disk.room = 2 << 20
        var error: RelayError?
        var booked: UInt64 = 1
        while error == nil {
            do {
                try await ledger.storage.commit([LedgerEncoder.booked(7, String(repeating: "y", count: 20_000))])
                booked += 1
            } catch let caught as RelayError { error = caught }
        }
        #expect(error?.code == .storageFull)
        #expect(error?.message.contains(directory.database) == true && error?.message.contains("make room") == true)
        #expect(ledger.stream.sequences == Array(1...booked))
        // As long as there is no room for the reserve, at once.
        #expect(await eventually { access(directory.path + "/reserve", F_OK) != 0 })
        let refusal = await #expect(throws: RelayError.self) { try await ledger.book(8) }
        #expect(
            refusal?.code == .storageFull
                && refusal?.message
                    == "the disk of \(directory.database) is full: nothing was done; free 1 MiB and more, and try again"
        )
        #expect(try await ledger.all().count == Int(booked))
        disk.room = 8 << 20
        try await ledger.book(9)
        #expect(ledger.stream.sequences == Array(1...booked + 1))
        #expect(access(directory.path + "/reserve", F_OK) == 0)
    }
    @Test("a disk that is full lets retention make its own room") func retention() async throws {
        let disk = try FaultDisk()
        // Before the journal is opened: its reserve has its part of it.
        disk.room = 4 << 20
        let ledger = try Ledger(
            TestFolder(), retention: Retention(bytes: 400_000), faults: disk.faults, vfs: disk.name)
        // Ten times what the disk holds.
        let text = String(repeating: "z", count: 20_000)
        var refused = 0
        for amount in 0..<1_500 {
            do { try await ledger.storage.commit([LedgerEncoder.booked(Int64(amount), text)]) } catch .storageFull {
                refused += 1
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        #expect(ledger.stream.emitted.count == 1_500 - refused)
        #expect(refused < 100)
    }
    @Test("a file system that became read-only: nothing was done; goes on when it is writable") func readOnly()
        async throws
    {
        let disk = try FaultDisk()
        let ledger = try Ledger(TestFolder(), faults: disk.faults, vfs: disk.name)
        disk.fail(.write, with: .readOnly, count: nil)
        for _ in 0..<3 {
            let error = await #expect(throws: RelayError.self) { try await ledger.book(1) }
            #expect(error?.code == .unavailable && error?.message.contains("writable to this user") == true)
        }
        disk.heal(.write)
        try await ledger.book(2)
        #expect(try await ledger.all().map { Stamped($0.body).amount } == [2])
    }
    @Test("a statement that ends the transaction is refused, and undoes all that shared it") func rollback()
        async throws
    {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)") }
        let error = await #expect(throws: RelayError.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.execute("INSERT INTO box VALUES (1)")
                _ = try? unit.execute("INSERT OR ROLLBACK INTO box VALUES (1)")
                try unit.publish(Booked(amount: 1, text: ""))
            }
        }
        #expect(error?.code == .invalidArgument)
        try await ledger.book(1)
        #expect(ledger.stream.sequences == [1])
        #expect(try await ledger.journal.unitOfWork { try $0.query("SELECT * FROM box") { $0.integer(0) } } == [])
    }
}
