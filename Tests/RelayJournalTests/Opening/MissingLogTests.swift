import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// A file that was parted from its log: by `rm`, or by a copy of the file alone.
@Suite("A log that is missing", .heavy, .tags(.g5, .g6)) struct MissingLogTests {
    /// What a killed service leaves: a copy of its directory, as it was while it ran.
    private func killed(commits: Int, checkpoint: Bool = false) async throws -> JournalCopy {
        let ledger = try Ledger(TestFolder())
        for amount in 0..<commits { try await ledger.book(Int64(amount)) }
        let storage = try #require(ledger.storage as? JournalStorage)
        if checkpoint { await storage.call { _ = $0.checkpoint(.passive) } }
        let copy = JournalCopy(directory: try TestFolder())
        let folder = copy.directory.path
        // Times as they were: they belong to what the mark describes.
        let outcome = try await RunningProgram.run("/bin/cp", ["-a", ledger.directory.path + "/.", folder])
        #expect(outcome.code == 0, "\(outcome)")
        ledger.journal.close()
        return copy
    }
    private func notices(_ copy: JournalCopy) throws -> [Notice] {
        let notices = NoticeRecorder()
        let journal = try EventJournal(directory: copy.directory.path, onNotice: notices.record)
        journal.close()
        return notices.all(of: .logMissing)
    }

    @Test("is reported at the start, once") func removed() async throws {
        let copy = try await killed(commits: 3)
        unlink(copy.wal)
        unlink(copy.path + "-shm")
        let reports = try notices(copy)
        #expect(reports.map(\.severity) == [.error])
        #expect(reports.first?.message.contains("\(copy.wal) is missing") == true)
        #expect(try notices(copy).isEmpty)
    }
    @Test("so is one after a checkpoint, if there were commits since") func later() async throws {
        let ledger = try Ledger(TestFolder())
        let storage = try #require(ledger.storage as? JournalStorage)
        try await ledger.book(1)
        await storage.call { _ = $0.checkpoint(.passive) }
        try await ledger.book(2)
        let copy = JournalCopy(directory: try TestFolder())
        let outcome = try await RunningProgram.run(
            "/bin/cp", ["-a", ledger.directory.path + "/.", copy.directory.path])
        #expect(outcome.code == 0)
        ledger.journal.close()
        unlink(copy.wal)
        #expect(try notices(copy).count == 1)
    }
    @Test("a log that is there, is empty of commits, or was moved into the file by another program is none")
    func present() async throws {
        #expect(try await notices(killed(commits: 3)).isEmpty)
        let moved = try await killed(commits: 3, checkpoint: true)
        unlink(moved.wal)
        #expect(try notices(moved).isEmpty)
        let foreign = try await killed(commits: 3)
        // SQLite's own program moves the log, and removes it.
        let outcome = try await RunningProgram.run("sqlite3", [foreign.path, "SELECT count(*) FROM relay_events"])
        #expect(outcome.output == ["3"] && access(foreign.wal, F_OK) != 0)
        #expect(try notices(foreign).isEmpty)
        #expect(try await notices(JournalCopy.ended()).isEmpty)
    }
    @Test("a backup in place of the file has no log") func restored() async throws {
        let (copy, other) = (try await killed(commits: 3), try await JournalCopy.ended())
        for suffix in ["", "-wal", "-shm"] { unlink(copy.path + suffix) }
        copy.write(other.bytes(other.path), to: copy.path)
        #expect(try notices(copy).isEmpty)
    }
}
