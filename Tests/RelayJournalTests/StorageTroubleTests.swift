import CSQLite
import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

/// What a disk's refusal means, by the kernel's number. `MountTests` and `StorageLimitTests` have most of these from
/// the kernel itself.
@Suite("A disk that refuses writes for a while", .heavy, .tags(.g5, .g6)) struct StorageTroubleTests {
    private struct Site {
        let disk: FaultDisk
        let notices = NoticeRecorder()
        let folder: TestFolder
        let journal: EventJournal
        init() throws {
            (disk, folder) = (try FaultDisk(), try TestFolder())
            journal = try EventJournal(
                directory: folder.path, faults: disk.faults, vfs: disk.name, onNotice: notices.record)
        }
        func add(_ label: String) async throws {
            try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [SQLValue(label)])) }
        }
        var labels: [String] {
            get async throws { try await journal.read { try $0.query("SELECT label FROM box") { try $0[0] } } }
        }
        func severities(of kind: Notice.Kind) -> [Notice.Severity] { notices.all(of: kind).map(\.severity) }
    }

    @Test(
        "a write that is refused: nothing was done, reads go on, and so do commits afterwards",
        arguments: [
            (EROFS, RelayError.Code.unavailable, "read-only"), (EIO, .unavailable, "look at the disk"),
            (EDQUOT, .storageFull, "quota"), (EFBIG, .storageFull, "LimitFSIZE="), (ENOSPC, .storageFull, "make room"),
        ])
    func writing(error number: Int32, code: RelayError.Code, words: String) async throws {
        let site = try Site()
        try await site.journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        try await site.add("first")
        let troubles = Mutex<[String?]>([])
        site.journal.storage.onTrouble { reason in troubles.withLock { $0.append(reason) } }
        site.disk.fail(.write, with: .writing(number), count: nil)
        for _ in 0..<3 {
            let error = await #expect(throws: RelayError.self) { try await site.add("second") }
            #expect(error?.code == code && error?.mayHaveRun == false, "\(String(describing: error))")
            #expect(error?.message.contains("nothing was done") == true, "\(error?.message ?? "")")
        }
        #expect(site.journal.failure == nil)
        #expect(try await site.labels == ["first"])
        let kind: Notice.Kind = code == .storageFull ? .storageFull : .storageFailed
        #expect(await eventually { site.severities(of: kind) == [.error] })
        #expect(site.notices.all(of: kind).first?.message.contains(words) == true, "\(site.notices.all)")
        #expect(troubles.withLock { $0.count } == 1)
        #expect(troubles.withLock { $0 }[0]?.hasPrefix("commits are refused: ") == true)
        site.disk.heal(.write)
        try await site.add("third")
        #expect(await eventually { site.severities(of: kind) == [.error, .info] })
        #expect(await eventually { troubles.withLock { $0.count == 2 && $0[1] == nil } })
        #expect(try await site.labels == ["first", "third"])
        site.journal.close()
        #expect(try JournalInspection(directory: site.folder.path).check().interfaces == 0)
    }
    @Test("the cause, with the kernel's number, is in the error") func cause() async throws {
        let site = try Site()
        site.disk.fail(.write, with: .writing(EROFS), count: nil)
        let error = await #expect(throws: RelayError.self) {
            try await site.journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        }
        let cause = error?.cause as? SQLiteError
        #expect(cause?.system == SystemError(EROFS) && cause?.code == SQLITE_IOERR | 3 << 8)
        #expect("\(cause.map { "\($0)" } ?? "")" == "disk I/O error: Read-only file system (SQLite 778)")
    }
    @Test("a service without work finds out by itself that it can write again") func probing() async throws {
        let disk = try FaultDisk()
        let notices = NoticeRecorder()
        let folder = try TestFolder()
        let journal = try EventJournal(
            directory: folder.path, faults: disk.faults, vfs: disk.name, onNotice: notices.record)
        let stream = RecordingStream()
        let interface = LoggedInterface(
            name: Ledger1.name, epoch: 1, retention: Retention(), events: LedgerEncoder.schemas, stream: stream)
        _ = try journal.access.storage.open([interface], encoder: LedgerEncoder())
        disk.fail(.write, with: .writing(EROFS), count: nil)
        await #expect(throws: RelayError.self) { try await journal.access.storage.commit([LedgerEncoder.booked(1)]) }
        #expect(await eventually { notices.all(of: .storageFailed).count == 1 })
        var names = try await journal.access.storage.figures(of: Ledger1.name)
        #expect(names.first { $0.name == "storageError" }?.value == UInt64(EROFS))
        disk.heal(.write)
        #expect(await eventually { notices.all(of: .storageFailed).count == 2 })
        names = try await journal.access.storage.figures(of: Ledger1.name)
        #expect(!names.contains { $0.name == "storageError" })
        try await journal.access.storage.commit([LedgerEncoder.booked(2)])
        #expect(stream.sequences == [1])
        journal.close()
    }
    @Test("a sync that is refused at the commit: the outcome is unknown", arguments: [EIO, EROFS, EDQUOT])
    func syncing(error number: Int32) async throws {
        let site = try Site()
        try await site.journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        site.disk.fail(.sync, with: .syncing(number), of: "-wal")
        let error = await #expect(throws: RelayError.self) { try await site.add("first") }
        #expect(error?.code == .outcomeUnknown && error?.mayHaveRun == true)
        #expect((error?.cause as? SQLiteError)?.system == SystemError(number))
        #expect(site.journal.failure?.code == .outcomeUnknown)
        // Whoever ends with it says that the disk is to blame: what was thrown, and what the journal has failed with.
        #expect(error?.exitCode == 74 && site.journal.failure?.exitCode == 74)
        site.journal.close()
    }
    @Test(
        "a checkpoint on a file system that has become read-only ends nothing; the files are written again before a commit"
    )
    func checkpoint() async throws {
        let disk = try FaultDisk()
        let ledger = try Ledger(TestFolder(), faults: disk.faults, vfs: disk.name)
        try await ledger.book(1)
        disk.fail(.sync, with: .syncing(EROFS), count: nil)
        disk.fail(.write, with: .writing(EROFS), count: nil)
        let storage = try #require(ledger.storage as? JournalStorage)
        await storage.call { _ = $0.checkpoint(.passive) }
        #expect(ledger.journal.failure == nil)
        #expect(try await ledger.all().count == 1)
        let error = await #expect(throws: RelayError.self) { try await ledger.book(2) }
        #expect(error?.code == .unavailable)
        let syncs = disk.calls(.sync)
        disk.heal(.sync)
        disk.heal(.write)
        try await ledger.book(3)
        // Those of the log that was written again, and of the commit.
        #expect(disk.calls(.sync) >= syncs + 2)
        #expect(try await ledger.all().map { Stamped($0.body).amount } == [1, 3])
        #expect(ledger.stream.sequences == [1, 2])
        ledger.journal.close()
        #expect(try JournalInspection(directory: ledger.directory.path).check().events == 2)
    }
    @Test("what a sync did not write is written again before upkeep builds on it") func upkeep() async throws {
        let reading = Mutex(
            RetentionClock.Reading(
                boot: "one", uptime: 1_000_000_000, wall: RetentionClock.earliest + 1_000_000_000_000,
                isSynchronized: true))
        var faults = JournalFaults()
        faults.clock = { reading.withLock { $0 } }
        let ledger = try Ledger(TestFolder(), retention: Retention(age: .seconds(60)), faults: faults)
        let text = String(repeating: "x", count: 3_900)
        try await ledger.storage.commit((0..<320).map { LedgerEncoder.booked($0, text) })
        let storage = try #require(ledger.storage as? JournalStorage)
        await storage.call { [stream = ledger.stream] engine in
            engine.mustSecure = true
            reading.withLock { $0.uptime += 3_600_000_000 }
            #expect(engine.maintain(isIdle: true) == 0 && stream.pruned == ["Booked": 320])
            #expect(!engine.mustSecure, "pruning")
            engine.mustSecure = true
            let size = try? engine.sql.pages.integers()
            _ = engine.maintain(isIdle: true)
            #expect((try? engine.sql.pages.integers()) != size && !engine.mustSecure, "giving pages back")
            engine.mustSecure = true
            #expect(engine.checkpoint(.passive) != nil && !engine.mustSecure)
        }
    }
    @Test("a service that takes the journal writes first what a sync did not write") func opening() async throws {
        let journal = try EventJournal(directory: TestFolder().path)
        let interface = LoggedInterface(
            name: Ledger1.name, epoch: 1, retention: Retention(), events: LedgerEncoder.schemas,
            stream: RecordingStream())
        await journal.storage.call { $0.mustSecure = true }
        _ = try journal.storage.open([interface], encoder: LedgerEncoder())
        await journal.storage.call { #expect(!$0.mustSecure) }
    }
    @Test("a temporary table has no file, whose disk could fail a commit that is done") func temporary() async throws {
        let site = try Site()
        try await site.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (label TEXT)")
            try unit.execute("CREATE TEMP TABLE pile (id INTEGER PRIMARY KEY, bytes BLOB)")
            // More than SQLite keeps in memory of a table that has a file.
            try unit.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
                INSERT INTO pile SELECT i, zeroblob(3000) FROM n
                """)
        }
        site.disk.fail(.write, with: .writing(ENOSPC), count: nil, of: "temporary")
        site.disk.fail(.open, with: .full, count: nil, of: "temporary")
        try await site.journal.unitOfWork { unit in
            try unit.execute("UPDATE pile SET bytes = zeroblob(2999) WHERE id <= 250")
            try unit.execute("INSERT INTO box VALUES ('first')")
        }
        #expect(try await site.labels == ["first"] && site.journal.failure == nil)
        site.journal.close()
    }
    @Test("a start on a disk that refuses writes can be repeated", arguments: [EROFS, EIO, EDQUOT, EFBIG, ENOSPC])
    func starting(error number: Int32) throws {
        let error = DirectoryLock.refusal("cannot open lock", number)
        #expect(error.code == ([EDQUOT, EFBIG, ENOSPC].contains(number) ? .storageFull : .unavailable))
        #expect(error.cause as? SystemError == SystemError(number))
        #expect(DirectoryLock.refusal("cannot open lock", EACCES).code == .notPermitted)
    }
}
