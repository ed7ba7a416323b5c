import CSQLite
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// Not `.heavy`: all but one wait for the 10 s until a journal without a service does its upkeep, and take next to nothing.
@Suite("What a journal reports", .tags(.g6)) struct JournalNoticeTests {
    private func journal(_ directory: TestFolder, _ disk: FaultDisk, _ notices: NoticeRecorder) throws
        -> EventJournal
    {
        try EventJournal(
            directory: directory.path, faults: disk.faults, vfs: disk.name, onNotice: notices.record)
    }

    @Test("a full disk, and that there is room again") func full() async throws {
        let (disk, notices) = (try FaultDisk(), NoticeRecorder())
        let directory = try TestFolder()
        let journal = try journal(directory, disk, notices)
        try await journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        disk.room = 0
        await #expect(throws: RelayError.self) {
            try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [.text("x")])) }
        }
        #expect(await eventually { notices.all.contains { $0.kind == .storageFull && $0.severity == .error } })
        disk.room = 8 << 20
        try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [.text("x")])) }
        #expect(await eventually { notices.all.contains { $0.kind == .storageFull && $0.severity == .info } })
    }
    @Test("a disk that stays full is reported once: not that it has room, as the reserve gave some") func staysFull()
        async throws
    {
        let (disk, notices) = (try FaultDisk(), NoticeRecorder())
        let directory = try TestFolder()
        let journal = try journal(directory, disk, notices)
        try await journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        disk.room = 0
        let text = String(repeating: "x", count: 2 << 20)
        for _ in 0..<3 {
            // More than the reserve has: refused after it was given up, too.
            await #expect(throws: RelayError.self) {
                try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [.text(text)])) }
            }
        }
        disk.room = 16 << 20
        try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [.text(text)])) }
        #expect(await eventually { notices.all.contains { $0.kind == .storageFull && $0.severity == .info } })
        journal.close()
        let told = notices.all.filter { $0.kind == .storageFull }
        #expect(told.map(\.severity) == [.error, .info], "\(told)")
        #expect(told.first?.message.contains("until 1 MiB and more are free") == true)
    }
    @Test("a checkpoint that fails") func checkpoint() async throws {
        let (disk, notices) = (try FaultDisk(), NoticeRecorder())
        let journal = try journal(TestFolder(), disk, notices)
        try await journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        disk.fail(.write, with: .writing, count: nil, of: ".sqlite")
        let text = String(repeating: "x", count: 6 << 20)
        try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [.text(text)])) }
        #expect(
            await eventually {
                notices.all.contains { $0.kind == .checkpointFailed && $0.message.contains("look at the disk") }
            })
        disk.heal(.write)
    }
    @Test("a log that a reader keeps from being used anew") func growth() async throws {
        let (disk, notices) = (try FaultDisk(), NoticeRecorder())
        let directory = try TestFolder()
        let journal = try journal(directory, disk, notices)
        try await journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
        let reader = try Database(directory.database, isReadOnly: true, vfs: nil)
        try reader.execute("BEGIN")
        _ = try reader.integers("SELECT count(*) FROM relay_interfaces")
        let text = String(repeating: "x", count: 34 << 20)
        for _ in 0..<2 {
            try await journal.unitOfWork { try $0.execute(SQL("INSERT INTO box VALUES (?)", [.text(text)])) }
        }
        #expect(await eventually { notices.all.contains { $0.kind == .walGrows && $0.message.contains("-wal has ") } })
        try reader.execute("ROLLBACK")
    }
    @Test("a check of the whole file, and what it finds") func check() async throws {
        let (disk, notices) = (try FaultDisk(), NoticeRecorder())
        let copy = try await JournalCopy.killed()
        try copy.edit("DELETE FROM relay_events WHERE sequence = 50")
        do {
            let journal = try journal(copy.directory, disk, notices)
            #expect(await eventually { notices.all.contains { $0.kind == .journalCheck && $0.severity == .error } })
            journal.close()
        }
        #expect(notices.all.first?.severity == .info)
        #expect(throws: RelayError.self) { _ = try journal(copy.directory, disk, notices) }
        #expect(await eventually { notices.all.contains { $0.message.contains("are checked before the start") } })
    }
}
