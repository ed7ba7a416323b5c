import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal
import RelayInspection

@Suite("A start that fails, and what it leaves", .serialized, .heavy, .tags(.g5, .g8)) struct FailedStartTests {
    /// Each file's name and size; of small ones the text, too.
    private func files(_ folder: String) throws -> [String] {
        let directory = try #require(opendir(folder))
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if [".", "..", "lock", "filler"].contains(name) { continue }
            var status = stat()
            #expect(stat(folder + "/" + name, &status) == 0)
            found.append("\(name) \(status.st_size)")
        }
        return found.sorted()
    }
    private func fill(_ folder: String) {
        let descriptor = open(folder + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4_096)
        while block.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
        close(descriptor)
    }

    @Test("a full disk: the mark of a clean end and the reserve stay", .enabled(if: SmallDisk.isPossible))
    func full() async throws {
        let disk = try await SmallDisk(megabytes: 4)
        let folder = disk.directory.path
        do {
            let ledger = try Ledger(disk.directory)
            try await ledger.book(1, 2, 3)
            try await ledger.journal.migrate("boxes", by: [Migration("box", "CREATE TABLE box (label TEXT)")])
            ledger.journal.close()
        }
        fill(folder)
        let before = try files(folder)
        #expect(before.contains { $0.hasPrefix("clean ") } && before.contains("reserve 1048576"))
        do {
            // Nothing is to be done to the tables: that is found without a write.
            let journal = try EventJournal(directory: folder)
            let outcome = try await journal.migrate("boxes", by: [Migration("box", "CREATE TABLE box (label TEXT)")])
            #expect(outcome.from == 1 && outcome.backup == nil)
            let error = await #expect(throws: RelayError.self) {
                try await journal.unitOfWork { try $0.execute("INSERT INTO box VALUES ('x')") }
            }
            #expect(error?.code == .storageFull)
            journal.close()
        }
        #expect(try files(folder) == before)
        // Without the reserve there is no room even to open it.
        #expect(unlink(folder + "/reserve") == 0)
        fill(folder)
        let none = try files(folder)
        let error = #expect(throws: RelayError.self) { _ = try EventJournal(directory: folder) }
        #expect(error?.code == .storageFull, "\(String(describing: error))")
        #expect(error?.message.hasPrefix("cannot open \(folder)/journal.sqlite: its disk is full (") == true)
        #expect(
            error?.message.hasSuffix("; nothing was done: free 1 MiB there, and start again (0 bytes are free now)")
                == true,
            "\(error?.message ?? "")")
        #expect(try files(folder) == none)
        // What there was not is not there after it.
        let new = folder + "/new"
        #expect(mkdir(new, 0o700) == 0)
        let unmade = #expect(throws: RelayError.self) { _ = try EventJournal(directory: new) }
        #expect(unmade?.code == .storageFull)
        #expect(
            unmade?.message.hasPrefix("cannot open \(new)/journal.sqlite: its disk is full (") == true
                && unmade?.message.hasSuffix("(0 bytes are free now)") == true, "\(unmade?.message ?? "")")
        #expect(try files(new).isEmpty && rmdir(new) == 0)
        unlink(folder + "/filler")
        let notices = NoticeRecorder()
        try EventJournal(directory: folder, onNotice: notices.record).close()
        // It is still known to be sound.
        #expect(!notices.all.contains { $0.kind == .journalCheck })
        try await disk.end()
    }
    @Test("a journal that was made for it goes, unless it has an event, or its program has used it") func unused()
        async throws
    {
        let directory = try TestFolder()
        do {
            let ledger = try Ledger(directory)
            ledger.journal.closeUnused()
            #expect(try files(directory.path).isEmpty && access(directory.path + "/lock", F_OK) != 0)
        }
        do {
            let ledger = try Ledger(directory)
            try await ledger.book(1)
            ledger.journal.closeUnused()
            #expect(try files(directory.path).contains { $0.hasPrefix("journal.sqlite ") })
        }
        do {
            let tables = try TestFolder()
            var ledger = try Ledger(tables)
            let create: SQL = "CREATE TABLE \"a\"\"b\" (id INTEGER)"
            let migration = Migration("a", create, "INSERT INTO \"a\"\"b\" VALUES (7)")
            _ = try await ledger.journal.migrate("a", by: [migration])
            ledger.journal.closeUnused()
            #expect(try files(tables.path).isEmpty)
            ledger = try Ledger(tables)
            try await ledger.journal.unitOfWork { unit in
                try unit.execute(create)
                try unit.execute("INSERT INTO \"a\"\"b\" VALUES (7)")
            }
            ledger.journal.closeUnused()
            #expect(try files(tables.path).contains { $0.hasPrefix("journal.sqlite ") })
        }
        // One that was there before.
        let ledger = try Ledger(directory, epoch: 2)
        ledger.journal.closeUnused()
        #expect(try Ledger(directory, epoch: 3).run.head == 1)
    }
    @Test("a mark that a killed run has set aside is not put back") func killed() async throws {
        let directory = try TestFolder()
        try EventJournal(directory: directory.path).close()
        #expect(rename(directory.path + "/clean", directory.path + "/clean.held") == 0)
        let notices = NoticeRecorder()
        try EventJournal(directory: directory.path, onNotice: notices.record).close()
        #expect(await eventually { notices.all.contains { $0.kind == .journalCheck } })
        #expect(access(directory.path + "/clean.held", F_OK) != 0)
    }
    @Test(
        "sizes are read as people do",
        arguments: [
            (0, "0 bytes"), (90, "90 bytes"), (1_023, "1023 bytes"), (1_024, "1 KiB"), (106_496, "104 KiB"),
            (1 << 20, "1 MiB"), (3 << 20, "3 MiB"), (5_000 << 10, "5000 KiB"), (3 << 30, "3 GiB"),
            (Int.max, "8388607 TiB"),
        ] as [(Int, String)]) func sizes(bytes: Int, text: String)
    {
        #expect(DiskRoom.text(bytes) == text)
    }

    @Test("a journal that this user may not look into is not said to be missing", .enabled(if: geteuid() == 0))
    func closed() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let state = folder.path + "/state"
            try EventJournal(directory: state).close()
            try #require(chmod(folder.path, 0o755) == 0 && seteuid(65_534) == 0)
            let refused = #expect(throws: RelayError.self) { _ = try JournalInspection(directory: state).check() }
            let target = folder.path + "/copy.sqlite"
            let unmade = #expect(throws: RelayError.self) {
                _ = try JournalInspection(directory: state).copy(to: target)
            }
            try #require(seteuid(0) == 0)
            #expect(refused?.code == .notPermitted)
            for part in ["\(state)/journal.sqlite may not be read: \(state) belongs to user root", "sudo -u root"] {
                #expect(refused?.message.contains(part) == true, "\(refused?.message ?? "")")
            }
            for part in ["cannot make the backup \(target): ", "\(folder.path) belongs to user root"] {
                #expect(unmade?.message.contains(part) == true, "\(unmade?.message ?? "")")
            }
        }
    }
}
