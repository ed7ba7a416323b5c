import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// Whatever program opens a journal: a service manager acts on the code alone.
@Suite("Exit codes of a journal that cannot be opened", .heavy, .tags(.g8)) struct ExitCodeTests {
    private func code(_ directory: String) -> Int32? {
        (#expect(throws: RelayError.self) { _ = try EventJournal(directory: directory) })?.exitCode
    }
    @Test("73 for a place that cannot be used, 75 while another has it, 65 for what is in the file") func codes()
        async throws
    {
        let folder = try TestFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(code(folder.path) == 73)
        #expect(chmod(folder.path, 0o700) == 0)
        try folder.write("", to: "file")
        #expect(code(folder.path + "/file") == 73)
        #expect(code(folder.path + "/file/below") == 73)
        let journal = try EventJournal(directory: folder.path)
        #expect(code(folder.path) == 75)
        journal.close()
        let copy = try await JournalCopy.ended()
        try copy.edit("DELETE FROM relay_names")
        #expect(code(copy.directory.path) == 65)
        let other = try TestFolder()
        try other.write(String(repeating: "no database ", count: 100), to: "journal.sqlite")
        #expect(code(other.path) == 65)
    }
    @Test("74 for a disk that fails before the service is ready: at the program's own work, and at the service's start")
    func failsBeforeReady() async throws {
        for failure in [FaultDisk.Failure.writing(EIO), .syncing(EIO), .reading, .full] {
            let (folder, disk) = (try TestFolder(), try FaultDisk())
            let journal = try EventJournal(directory: folder.path, faults: disk.faults, vfs: disk.name)
            try await journal.unitOfWork { try $0.execute("CREATE TABLE box (label TEXT)") }
            for call in [FaultDisk.Call.write, .sync, .read] { disk.fail(call, with: failure, count: nil) }
            let error = await #expect(throws: RelayError.self) {
                try await journal.unitOfWork { try $0.execute("INSERT INTO box VALUES (hex(randomblob(100000)))") }
            }
            #expect(error?.exitCode == 74, "\(String(describing: error))")
            guard journal.failure != nil else {
                journal.close()
                continue
            }
            let reason = await #expect(throws: RelayError.self) {
                let bus = Bus.address("unix:path=/nonexistent/bus")
                let service = try EventService(
                    name: "org.example.Late", on: bus, exporting: Ledger1.self, journal: journal)
                try await service.run()
            }
            #expect(reason?.exitCode == 74, "\(String(describing: reason))")
            journal.close()
        }
    }
    @Test("65 for a page of the program's own tables that is damaged, which its first work finds") func damagedPage()
        async throws
    {
        let folder = try TestFolder()
        var journal = try EventJournal(directory: folder.path)
        try await journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (label TEXT)")
            try unit.execute("INSERT INTO box VALUES (hex(randomblob(100000)))")
        }
        let page = try await journal.unitOfWork { unit in
            try unit.query("SELECT rootpage FROM sqlite_master WHERE name = 'box'", as: Int64.self)[0]
        }
        journal.close()
        let damage = try await RunningProgram.run(
            "dd",
            [
                "if=/dev/urandom", "of=\(folder.path)/journal.sqlite", "bs=4096", "seek=\(page - 1)", "count=1",
                "conv=notrunc",
            ])
        #expect(damage.code == 0, "\(damage)")
        do {
            journal = try EventJournal(directory: folder.path)
            let error = await #expect(throws: RelayError.self) {
                _ = try await journal.unitOfWork { try $0.query("SELECT count(*) FROM box", as: Int64.self) }
            }
            #expect(error?.exitCode == 65, "\(String(describing: error))")
            journal.close()
        } catch let error as RelayError {
            #expect(error.exitCode == 65, "\(error)")
        }
    }
}
