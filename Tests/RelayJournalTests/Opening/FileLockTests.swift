import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// SQLite's locks on the file, which another program's connection asks: without them it takes the log for left over.
@Suite("The locks of an open journal", .heavy, .tags(.g5, .g6)) struct FileLockTests {
    /// Whether this process has a lock on the file, as the kernel lists them.
    private func isLocked(_ path: String) throws -> Bool {
        var status = stat()
        #expect(stat(path, &status) == 0)
        let descriptor = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var (text, part) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while true {
            let count = read(descriptor, &part, part.count)
            if count <= 0 { break }
            text += part.prefix(count)
        }
        // "1: POSIX  ADVISORY  READ 3721 fe:00:16246688 1073741826 1073742335"
        return String(decoding: text, as: UTF8.self).split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.contains("POSIX") && words.contains("\(getpid())")
                && words.contains { $0.hasSuffix(":\(status.st_ino)") }
        }
    }
    @Test("are there after a commit, a checkpoint of a part, and one of all") func held() async throws {
        let ledger = try Ledger(TestFolder())
        let storage = try #require(ledger.storage as? JournalStorage)
        let path = ledger.directory.database
        #expect(try isLocked(path))
        try await ledger.book(1)
        #expect(try isLocked(path))
        // A reader keeps the frames behind its moment out of a checkpoint.
        let reader = try Database(path, isReadOnly: true, vfs: nil)
        try reader.execute("BEGIN")
        #expect(try reader.integers("SELECT count(*) FROM relay_events") == [1])
        try await ledger.book(2)
        await storage.call { engine in
            let result = engine.checkpoint(.passive)
            #expect(result.map { $0.copied < $0.held } == true)
        }
        #expect(try isLocked(path))
        try reader.execute("ROLLBACK")
        await storage.call { _ = $0.checkpoint(.truncate) }
        #expect(try isLocked(path))
        try await ledger.book(3)
        #expect(try isLocked(path))
    }
    @Test("keep another program from removing the log: what was answered is there after a kill") func foreign()
        async throws
    {
        let ledger = try Ledger(TestFolder())
        let path = ledger.directory.database
        try await ledger.book(1)
        var before = stat()
        #expect(stat(path + "-wal", &before) == 0)
        // It may write, and its last connection would move the log and remove it.
        let outcome = try await RunningProgram.run("sqlite3", [path, "SELECT count(*) FROM relay_events"])
        #expect(outcome.output == ["1"])
        var after = stat()
        #expect(stat(path + "-wal", &after) == 0 && after.st_ino == before.st_ino, "it was removed")
        try await ledger.book(2)
        try await ledger.book(3)
        // What a kill leaves: the files as they are.
        let copy = JournalCopy(directory: try TestFolder())
        let copied = try await RunningProgram.run(
            "/bin/cp", ["-a", ledger.directory.path + "/.", copy.directory.path])
        #expect(copied.code == 0, "\(copied)")
        ledger.journal.close()
        let next = try Ledger(copy.directory, epoch: 2)
        #expect(try await next.all().map(\.sequence) == [1, 2, 3])
    }
}
