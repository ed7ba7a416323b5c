import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("Opening a journal", .heavy, .tags(.g6, .g8)) struct OpeningTests {
    private func refusal(_ directory: TestFolder) -> RelayError? {
        #expect(throws: RelayError.self) { _ = try EventJournal(directory: directory.path) }
    }
    /// A journal with some events, closed.
    private func made(_ directory: TestFolder, events: Int = 100) async throws {
        let ledger = try Ledger(directory)
        try await ledger.storage.commit((0..<events).map { LedgerEncoder.booked(Int64($0)) })
        ledger.journal.close()
    }
    private func edit(_ path: String, _ body: (Int32) -> Void) {
        let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
        #expect(descriptor >= 0)
        body(descriptor)
        close(descriptor)
    }
    private func bytes(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        _ = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return bytes
    }

    @Test("makes the directory and the file for its user alone") func made() throws {
        let directory = try TestFolder()
        let path = directory.path + "/a/b"
        let journal = try EventJournal(directory: path)
        func mode(_ path: String) -> mode_t {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
        }
        #expect(mode(path) == 0o700 && mode(directory.path + "/a") == 0o700)
        for name in ["journal.sqlite", "journal.sqlite-wal", "lock", "reserve"] {
            #expect(mode(path + "/" + name) == 0o600, "\(name)")
        }
        journal.close()
        // One whole file is left.
        #expect(access(path + "/journal.sqlite-wal", F_OK) != 0 && bytes(path + "/journal.sqlite").count > 4_096)
    }
    @Test("a path that only a shell understands is refused, and no folder '~' is made") func home() {
        for path in ["~", "~/printer/journal"] {
            let error = #expect(throws: RelayError.self) { _ = try EventJournal(directory: path) }
            #expect(error?.code == .invalidArgument && error?.message.contains("whole path") == true)
        }
        #expect(access("~", F_OK) != 0)
    }
    @Test("a second journal is refused, in this process") func second() async throws {
        let directory = try TestFolder()
        let ledger = try Ledger(directory)
        #expect(refusal(directory)?.code == .conflict)
        #expect(
            refusal(directory)?.message
                == "\(directory.path) is in use by another journal of this process: close that one, or give this journal "
                + "another directory")
        try await ledger.book(1)
        ledger.journal.close()
        #expect(try Ledger(directory, epoch: 2).run.head == 1)
    }
    @Test("a second process is refused, by its number") func secondProcess() async throws {
        let directory = try TestFolder()
        // flock(1) is another program that holds the lock.
        let holder = try RunningProgram(
            "/usr/bin/flock",
            [
                "-F", "\(directory.path)/lock", "sh", "-c",
                "echo $$ > \(directory.path)/lock; echo held; exec tail -f /dev/null",
            ])
        try await holder.line(containing: "held")
        let error = refusal(directory)
        #expect(
            error?.code == .conflict && error?.message.contains("in use by process \(holder.processID): end") == true,
            "\(String(describing: error))")
        _ = await holder.terminate()
    }
    @Test("a second service of one journal is refused") func secondService() throws {
        let ledger = try Ledger(TestFolder())
        let error = #expect(throws: RelayError.self) { _ = try ledger.storage.open([], encoder: LedgerEncoder()) }
        #expect(error?.code == .conflict && error?.message.contains("has a service already") == true)
    }
    @Test("a newer file is refused, and stays as it is") func newer() async throws {
        let directory = try TestFolder()
        try await made(directory)
        try Database(directory.database, isReadOnly: false, vfs: nil).execute("PRAGMA user_version = 7")
        let before = bytes(directory.database)
        let error = refusal(directory)
        #expect(error?.code == .invalidArgument)
        #expect(
            error?.message
                == "\(directory.database) is of version 7, made by a newer release; this one knows version \(JournalSchema.version): update "
                + "this program, or restore a backup of its own time")
        #expect(bytes(directory.database) == before)
    }
    @Test("a file of something else is refused", arguments: [0, 1_234]) func foreign(application: Int) async throws {
        let directory = try TestFolder()
        edit(directory.database) { _ in }
        try Database(directory.database, isReadOnly: false, vfs: nil)
            .execute("CREATE TABLE mail (text); PRAGMA application_id = \(application)")
        let before = bytes(directory.database)
        let error = refusal(directory)
        #expect(error?.code == .invalidArgument)
        #expect(
            error?.message
                == "\(directory.database) is an SQLite file of something else (application_id \(application), 1 tables): "
                + "move it away, or give the journal another directory")
        #expect(bytes(directory.database) == before)
    }
    @Test("what is no database is refused") func noDatabase() throws {
        let directory = try TestFolder()
        edit(directory.database) { _ = pwrite($0, String(repeating: "no database ", count: 1_000), 12_000, 0) }
        let error = refusal(directory)
        #expect(error?.code == .unavailable)
        #expect(
            error?.message
                == "\(directory.database) is damaged (file is not a database (SQLite 26)): restore it from a backup, without "
                + "its -wal; to begin anew, move both away")
    }
    @Test("a file that was cut is refused", arguments: [1, 100, 4_096, 8_192, 12_000]) func cut(size: Int) async throws
    {
        let directory = try TestFolder()
        try await made(directory, events: 2_000)
        edit(directory.database) { _ = ftruncate($0, off_t(size)) }
        let error = refusal(directory)
        #expect(error?.code == .unavailable, "\(String(describing: error))")
        #expect(error?.message.hasPrefix("\(directory.database) is damaged (") == true)
        #expect(error?.message.contains("restore it from a backup") == true)
        #expect(bytes(directory.database).count == size)
    }
    @Test("a WAL without its file, or beside an empty one, is refused", arguments: [true, false])
    func parted(isMissing: Bool) throws {
        let directory = try TestFolder()
        edit(directory.database + "-wal") { _ = pwrite($0, String(repeating: "w", count: 5_000), 5_000, 0) }
        if !isMissing { edit(directory.database) { _ in } }
        let error = refusal(directory)
        #expect(error?.code == .unavailable)
        #expect(
            error?.message
                == "\(directory.database) is \(isMissing ? "missing" : "empty") beside a \(directory.database)-wal of 5000 "
                + "bytes: the two were parted; put the file back, or restore both from a backup; to begin anew, move the "
                + "-wal away")
        #expect(bytes(directory.database + "-wal").count == 5_000)
    }
    @Test(
        "a start after a kill writes the log again, and of the file only what a checkpoint would not write",
        arguments: [false, true])
    func leftover(isHeld: Bool) async throws {
        let ledger = try Ledger(TestFolder())
        let text = String(repeating: "x", count: 3_000)
        try await ledger.storage.commit((0..<300).map { LedgerEncoder.booked($0, text) })
        let copy = JournalCopy(directory: try TestFolder())
        for suffix in ["", "-wal"] {
            copy.write(copy.bytes(ledger.directory.database + suffix), to: copy.path + suffix)
        }
        var other: Database?
        if isHeld {
            // Another program has moved the log into the file, and keeps the log's index, which says so.
            other = try Database(copy.path, isReadOnly: false, vfs: nil)
            other?.keepLogAtClose(true)
            _ = try other?.integers("SELECT count(*) FROM relay_events")
            let (held, copied) = try #require(try other?.checkpoint(.passive))
            try #require(held == copied && held > 200)
        }
        let disk = try FaultDisk()
        let journal = try EventJournal(directory: copy.directory.path, faults: disk.faults, vfs: disk.name)
        // The file is written a page at a time, the log many frames at a time.
        #expect((disk.calls(.write) > 200) == isHeld, "\(disk.calls(.write)) writes")
        journal.close()
        withExtendedLifetime(other) {}
        #expect(try Ledger(copy.directory, epoch: 2).run.head == 300)
    }
    @Test("an empty file is a new one, and a WAL index alone is nothing") func empty() async throws {
        let directory = try TestFolder()
        edit(directory.database) { _ in }
        edit(directory.database + "-shm") { _ = ftruncate($0, 32_768) }
        try await Ledger(directory).book(1)
    }
    @Test(
        "a file that would let others in is refused, and neither followed nor waited for",
        arguments: [
            "lock", "reserve", "clean", "damaged", "journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm",
            "journal.sqlite-journal",
        ]) func kinds(name: String) throws
    {
        let (directory, other) = (try TestFolder(), try TestFolder())
        let (path, victim) = (directory.path + "/" + name, other.path + "/victim")
        edit(victim) { _ = pwrite($0, "precious", 8, 0) }
        #expect(symlink(victim, path) == 0)
        #expect(refusal(directory)?.message.hasPrefix("\(path) is a symbolic link: ") == true)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(refusal(directory)?.message == "\(path) is no regular file: move it away")
        unlink(path)
        #expect(link(victim, path) == 0)
        #expect(refusal(directory)?.message.hasPrefix("\(path) has 2 names (hard links): ") == true)
        #expect(bytes(victim) == Array("precious".utf8))
        unlink(path)
        _ = try EventJournal(directory: directory.path)
    }
    @Test(
        "a directory that others can write is refused, and one that is not its user's",
        arguments: [0o720, 0o702, 0o777])
    func mode(mode: mode_t) throws {
        let directory = try TestFolder()
        chmod(directory.path, mode)
        let error = refusal(directory)
        #expect(
            error?.code == .invalidArgument
                && error?.message
                    == "the directory \(directory.path) can be written by others (mode \(String(mode, radix: 8))), who could "
                    + "replace the journal: chmod go-w \(directory.path)"
        )
        chmod(directory.path, 0o750)
        _ = try EventJournal(directory: directory.path)
    }
    @Test(
        "a directory of another user is refused, and a link of another user to one of ours",
        .enabled(if: geteuid() == 0))
    func owner() throws {
        let (directory, other) = (try TestFolder(), try TestFolder())
        let link = other.path + "/link"
        #expect(symlink(directory.path, link) == 0)
        try EventJournal(directory: link).close()
        #expect(lchown(link, 1, 1) == 0)
        let error = #expect(throws: RelayError.self) { _ = try EventJournal(directory: link) }
        #expect(error?.message.hasPrefix("\(link) is a link of user 1, ") == true)
        #expect(chown(directory.path, 1, 1) == 0)
        #expect(
            refusal(directory)?.message.hasPrefix(
                "the directory \(directory.path) belongs to user 1, who could replace")
                == true)
        #expect(chown(directory.path, 0, 0) == 0)
    }
    @Test("files that others can write, or that are another user's, are refused") func files() async throws {
        let directory = try TestFolder()
        try await made(directory)
        for (name, mode) in [("journal.sqlite", 0o660), ("lock", 0o602), ("reserve", 0o666)] as [(String, mode_t)] {
            let path = "\(directory.path)/\(name)"
            chmod(path, mode)
            let error = refusal(directory)
            #expect(
                error?.code == .invalidArgument
                    && error?.message.hasPrefix("\(path) can be written by others (mode \(String(mode, radix: 8)))")
                        == true
                    && error?.message.contains("chmod go-w \(path)") == true, "\(error as Any)")
            chmod(path, 0o640)
            if geteuid() == 0 {
                #expect(chown(path, 1, 1) == 0)
                #expect(refusal(directory)?.message.hasPrefix("\(path) belongs to user 1, who could change") == true)
                #expect(chown(path, 0, 0) == 0)
            }
        }
        try EventJournal(directory: directory.path).close()
    }
    @Test("each directory that it makes is synced into the one that has it") func synced() throws {
        let directory = try TestFolder()
        var synced: [String] = []
        let path = directory.path + "/a/b"
        func make(_ path: String, failure: Int32 = 0) throws {
            try DirectoryLock.makeDirectory(path) { path in
                synced.append(path)
                return failure == 0 ? FolderSync.parent(of: path) : failure
            }
        }
        try make(path)
        #expect(synced == [directory.path + "/a", path])
        try make(path)
        #expect(synced.count == 2)
        let error = #expect(throws: RelayError.self) { try make(path + "/c", failure: EIO) }
        #expect(error?.message.hasPrefix("cannot sync the directory that has \(path)/c") == true)
        #expect(FolderSync.parent(of: directory.path + "/none/x") == ENOENT)
        for path in ["x", "/x", "/", directory.path + "/a//"] { #expect(FolderSync.parent(of: path) == 0) }
    }
    @Test("a closed journal takes nothing more, and says so") func closed() async throws {
        let ledger = try Ledger(TestFolder())
        ledger.journal.close()
        ledger.journal.close()
        let error = await #expect(throws: RelayError.self) { try await ledger.book(1) }
        #expect(error?.code == .unavailable && error?.message.contains("is closed") == true)
        await #expect(throws: RelayError.self) { _ = try await ledger.page() }
        #expect(throws: RelayError.self) { _ = try ledger.storage.open([], encoder: LedgerEncoder()) }
    }
}
