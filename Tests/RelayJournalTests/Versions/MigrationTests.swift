import Glibc
import RelayCore
import RelayInspection
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal
import RelayInspection

@Suite("Migrations of a program's tables", .heavy, .tags(.g5, .g6)) struct MigrationTests {
    private static let jobs = Migration(
        "jobs", "CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT")
    private static let pages = Migration("pages", "ALTER TABLE jobs ADD COLUMN pages INTEGER NOT NULL DEFAULT 1")
    private static let named = Migration("named") { unit in
        try unit.execute("UPDATE jobs SET title = title || \("!")")
    }

    private func backups(_ folder: TestFolder) -> [String] {
        guard let directory = opendir(folder.path + "/backups") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                // The name ends with a NUL within the tuple that C's array is in Swift.
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
    private func add(_ title: String, to journal: EventJournal) async throws {
        try await journal.unitOfWork { try $0.execute("INSERT INTO jobs (title) VALUES (\(title))") }
    }
    private func titles(_ journal: EventJournal) async throws -> [String] {
        try await journal.read { try $0.query("SELECT title FROM jobs ORDER BY id") { try $0[0, as: String.self] } }
    }

    @Test("run once each, in order, over restarts; a new journal needs no backup") func steps() async throws {
        let folder = try TestFolder()
        do {
            let journal = try EventJournal(directory: folder.path)
            let outcome = try await journal.migrate("printing", by: [Self.jobs])
            #expect(outcome == MigrationOutcome(from: 0, to: 1, backup: nil) && backups(folder).isEmpty)
            try await add("Invitation", to: journal)
            #expect(try await journal.migrate("printing", by: [Self.jobs]).to == 1)
            journal.close()
        }
        let journal = try EventJournal(directory: folder.path)
        let outcome = try await journal.migrate("printing", by: [Self.jobs, Self.pages, Self.named])
        #expect(outcome.from == 1 && outcome.to == 3)
        #expect(try await titles(journal) == ["Invitation!"])
        // Nothing is left to do.
        #expect(
            try await journal.migrate("printing", by: [Self.jobs, Self.pages, Self.named])
                == MigrationOutcome(from: 3, to: 3, backup: nil))
        #expect(try await titles(journal) == ["Invitation!"])
    }
    @Test("a backup is a whole journal of the time before, and closed to others") func backup() async throws {
        let folder = try TestFolder()
        let ledger = try Ledger(folder)
        try await ledger.journal.migrate("printing", by: [Self.jobs])
        try await add("Invitation", to: ledger.journal)
        try await ledger.book(1, 2, 3)
        let outcome = try await ledger.journal.migrate("printing", by: [Self.jobs, Self.named])
        let path = try #require(outcome.backup)
        #expect(backups(folder).map { "\(folder.path)/backups/\($0)" } == [path])
        #expect(path.hasPrefix("\(folder.path)/backups/printing-1-2") && path.hasSuffix("Z.sqlite"))
        for (name, mode) in [(path, 0o600), ("\(folder.path)/backups", 0o700)] {
            var status = stat()
            #expect(stat(name, &status) == 0 && Int(status.st_mode) & 0o777 == mode, "\(name)")
        }
        // Restored as OPERATING.md says, it is the journal of then.
        let restored = try TestFolder()
        #expect(rename(path, restored.database) == 0)
        let old = try Ledger(restored, epoch: 2)
        #expect(try await titles(old.journal) == ["Invitation"])
        #expect(try await titles(ledger.journal) == ["Invitation!"])
        #expect(try await old.all().map(\.sequence) == [1, 2, 3])
        #expect(try await old.journal.migrate("printing", by: [Self.jobs, Self.named]).from == 1)
        #expect(try await titles(old.journal) == ["Invitation!"])
    }
    @Test("a step that fails at each start does not push the backup of the version before out") func failingStarts()
        async throws
    {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate("printing", by: [Self.jobs])
        try await add("Invitation", to: journal)
        let broken = Migration("broken", "nonsense")
        for _ in 1...6 {
            await #expect(throws: RelayError.self) {
                try await journal.migrate("printing", by: [Self.jobs, Self.named, broken])
            }
        }
        // Before the first step, and before the one that fails.
        #expect(backups(folder).map { $0.split(separator: "-20")[0] } == ["printing-1", "printing-2"])
    }
    @Test("a backup that was made while the clock was wrong is not taken for the oldest") func wrongClock() async throws
    {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate("printing", by: [Self.jobs])
        mkdir(folder.path + "/backups", 0o700)
        for version in [7, 8, 9] {
            let later = "\(folder.path)/backups/printing-\(version)-2999-01-0\(version)T00-00-00.000000Z.sqlite"
            close(open(later, O_WRONLY | O_CREAT, 0o600))
        }
        let outcome = try await journal.migrate("printing", by: [Self.jobs, Self.named])
        let backup = try #require(outcome.backup)
        #expect(access(backup, F_OK) == 0)
        #expect(backups(folder).map { $0.prefix(10) } == ["printing-1", "printing-8", "printing-9"])
    }
    @Test("the newest backups of the last three versions of each set of tables are kept") func bounded() async throws {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate("a", by: [Self.jobs])
        try await journal.migrate("a-1", by: [Migration("one", "CREATE TABLE one (id INTEGER PRIMARY KEY)")])
        var steps = [Self.jobs]
        for number in 1...12 {
            steps.append(Migration("\(number)", "CREATE TABLE \(verbatim: "t\(number)") (id INTEGER PRIMARY KEY)"))
            let outcome = try await journal.migrate("a", by: steps)
            let backup = try #require(outcome.backup)
            let own = backups(folder).filter { !$0.hasPrefix("a-1-0-") }
            #expect(own.count == min(number, 3) && own.contains { backup.hasSuffix("/" + $0) }, "\(own)")
        }
        // Versions of two digits count by time, not by their letters; those of other tables are not touched.
        #expect(backups(folder).map { $0.split(separator: "-20")[0] }.sorted() == ["a-1-0", "a-10", "a-11", "a-12"])
    }
    @Test("a step that fails is undone alone, and is tried again behind those that were done") func failure()
        async throws
    {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path)
        let broken = Migration("broken", "CREATE TABLE half (x)", "nonsense")
        let error = await #expect(throws: RelayError.self) {
            try await journal.migrate("printing", by: [Self.jobs, broken, Self.named])
        }
        #expect(error?.code == .invalidArgument)
        try await add("Invitation", to: journal)
        #expect(
            try await journal.read { try $0.query("SELECT name FROM sqlite_master WHERE name = 'half'") { _ in } }
                .isEmpty)
        let mended = Migration("broken", "CREATE TABLE half (x)")
        #expect(try await journal.migrate("printing", by: [Self.jobs, mended, Self.named]).from == 1)
        #expect(try await titles(journal) == ["Invitation!"])
    }
    @Test("callers at the same time do each step once") func concurrent() async throws {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate("printing", by: [Self.jobs])
        try await add("Invitation", to: journal)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    #expect((try? await journal.migrate("printing", by: [Self.jobs, Self.pages, Self.named]).to) == 3)
                }
            }
        }
        #expect(try await titles(journal) == ["Invitation!"])
        // The first one made it, of what was there before; the others found nothing to do.
        #expect(backups(folder).map { $0.split(separator: "-20")[0] } == ["printing-1"])
    }
    @Test("tables of a newer program, and a step that was changed, are refused before anything is done")
    func refused() async throws {
        let folder = try TestFolder()
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate("printing", by: [Self.jobs, Self.pages])
        for steps in [[Self.jobs], [Self.jobs, Self.named, Self.pages], []] {
            let error = await #expect(throws: RelayError.self) { try await journal.migrate("printing", by: steps) }
            #expect(error?.code == .schemaMismatch && error.map { UnfitJournal.explains($0) } == true)
        }
        for name in ["", "a b", "../x", String(repeating: "x", count: 65), "é"] {
            let error = await #expect(throws: RelayError.self) { try await journal.migrate(name, by: []) }
            #expect(error?.code == .invalidArgument)
        }
        await #expect(throws: RelayError.self) { try await journal.migrate("twice", by: [Self.jobs, Self.jobs]) }
        #expect(backups(folder).isEmpty)
    }
    @Test(
        "without room for the backup, or with one that cannot be read, nothing is changed and nothing is left",
        arguments: ["full", "writing", "reading"])
    func noBackup(fault: String) async throws {
        let folder = try TestFolder()
        let disk = try FaultDisk()
        let journal = try EventJournal(directory: folder.path, faults: disk.faults, vfs: disk.name)
        try await journal.migrate("printing", by: [Self.jobs])
        for _ in 0..<200 { try await add(String(repeating: "x", count: 500), to: journal) }
        switch fault {
        case "full": disk.fail(.write, with: .full, skipping: 3, count: nil, of: "unfinished")
        case "writing": disk.fail(.write, with: .writing, skipping: 3, count: nil, of: "unfinished")
        default: disk.fail(.read, with: .reading, skipping: 1, count: nil, of: "unfinished")
        }
        let error = await #expect(throws: RelayError.self) {
            try await journal.migrate("printing", by: [Self.jobs, Self.named])
        }
        #expect(error?.code == (fault == "full" ? .storageFull : .unavailable), "\(String(describing: error))")
        #expect(backups(folder).isEmpty)
        #expect(try await titles(journal).allSatisfy { !$0.hasSuffix("!") })
        // The journal is none the worse, and goes on when the disk does.
        disk.heal(.write)
        disk.heal(.read)
        #expect(try await journal.migrate("printing", by: [Self.jobs, Self.named]).backup != nil)
        #expect(try await titles(journal).allSatisfy { $0.hasSuffix("!") })
        journal.close()
        withExtendedLifetime(disk) {}
    }
    @Test("a backup does not go where a link leads, nor where others can write") func hostileFolder() async throws {
        let (folder, elsewhere) = (try TestFolder(), try TestFolder())
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate("printing", by: [Self.jobs])
        #expect(symlink(elsewhere.path, folder.path + "/backups") == 0)
        func attempt() async -> RelayError.Code? {
            do {
                try await journal.migrate("printing", by: [Self.jobs, Self.pages])
                return nil
            } catch { return (error as? RelayError)?.code }
        }
        #expect(await attempt() == .unavailable && elsewhere.names.isEmpty)
        unlink(folder.path + "/backups")
        mkdir(folder.path + "/backups", 0o700)
        chmod(folder.path + "/backups", 0o777)
        #expect(await attempt() == .unavailable)
        chmod(folder.path + "/backups", 0o700)
        // A copy that was left unfinished is no obstacle, and neither is a link in its place.
        #expect(symlink(elsewhere.path + "/stolen", folder.path + "/backups/unfinished") == 0)
        #expect(await attempt() == nil && elsewhere.names.isEmpty)
    }
}
