import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

@Suite("A journal looked at from outside", .heavy, .tags(.g5, .g8)) struct InspectionTests {
    private func files(_ folder: TestFolder) throws -> [String] {
        let directory = try #require(opendir(folder.path))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    @Test("one that nobody uses is checked and copied, and nothing of it changes")
    func ended() async throws {
        let copy = try await JournalCopy.ended()
        let before = (try files(copy.directory), copy.bytes(copy.path))
        let journal = JournalInspection(directory: copy.directory.path)
        let size = copy.bytes(copy.path).count
        #expect(
            try journal.check() == JournalInspection.Summary(interfaces: 1, events: 200, bytes: size))
        let target = try TestFolder()
        var steps: [JournalInspection.Progress] = []
        let summary = try journal.copy(to: target.path + "/copy.sqlite") { steps.append($0) }
        #expect(summary.events == 200 && summary.interfaces == 1 && summary.bytes > 0)
        #expect(try files(target) == ["copy.sqlite"])
        #expect(try (files(copy.directory), copy.bytes(copy.path)) == before)
        guard case .copying(let done, let total)? = steps.first else {
            Issue.record("\(steps)")
            return
        }
        #expect(done == total && total > 0, "200 events are fewer pages than a step")
        #expect(steps.contains(.checkingPages) && steps.contains(.checkingEvents(done: 0, total: 200)))
        // Closed to others.
        var status = stat()
        #expect(stat(target.path + "/copy.sqlite", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("what a kill left in the log is in the copy")
    func killed() async throws {
        let copy = try await JournalCopy.killed()
        let journal = JournalInspection(directory: copy.directory.path)
        #expect(try journal.check().events == 200)
        let target = try TestFolder()
        #expect(try journal.copy(to: target.path + "/copy.sqlite").events == 200)
        #expect(try JournalInspection(file: target.path + "/copy.sqlite").check().events == 200)
    }

    @Test(
        "a backup has its name where there are no hard links, and replaces nothing there",
        arguments: [EPERM, EOPNOTSUPP])
    func withoutLinks(number: Int32) throws {
        let folder = try TestFolder()
        let (unfinished, target) = (folder.path + "/unfinished", folder.path + "/copy.sqlite")
        func name() throws {
            try JournalInspection.name(unfinished, target) { _, _ in
                errno = number
                return -1
            }
        }
        let copy = JournalCopy(directory: folder)
        copy.write([1], to: unfinished)
        try name()
        #expect(copy.bytes(target) == [1] && access(unfinished, F_OK) != 0)
        copy.write([2], to: unfinished)
        let error = #expect(throws: RelayError.self) { try name() }
        #expect((error?.cause as? SystemError)?.code == EEXIST && copy.bytes(target) == [1])
    }
    @Test("while it is written, check and copy see one moment, and the writer goes on")
    func live() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.book(1)
        let writing = Task {
            var booked: UInt64 = 1
            while !Task.isCancelled {
                try await ledger.book(Int64(booked))
                booked += 1
            }
            return booked
        }
        let journal = JournalInspection(directory: ledger.directory.path)
        let target = try TestFolder()
        var last = 0
        #expect(await eventually { (try? journal.check().events) ?? 0 > 1 })
        for round in 0..<10 {
            let checked = try journal.check().events
            let copied = try journal.copy(to: "\(target.path)/\(round)").events
            // Each is a whole prefix of what was booked.
            #expect(checked >= last && copied >= checked)
            last = copied
        }
        writing.cancel()
        let booked = try await writing.value
        #expect(last <= Int(booked) && booked > 1)
        #expect(try await ledger.all().count == Int(booked))
        ledger.journal.close()
        #expect(try journal.check().events == Int(booked))
    }

    @Test("a damaged file is found, and leaves no copy behind", arguments: [true, false])
    func damaged(_ isChecked: Bool) async throws {
        let copy = try await JournalCopy.ended()
        let size = copy.bytes(copy.path).count
        copy.write([UInt8](repeating: 0x55, count: 4_096), to: copy.path, at: size - 4_096)
        let journal = JournalInspection(directory: copy.directory.path)
        let target = try TestFolder()
        let error = #expect(throws: RelayError.self) {
            _ = isChecked ? try journal.check() : try journal.copy(to: target.path + "/copy")
        }
        #expect(error.map(UnfitJournal.explains) == true)
        #expect(error?.message.hasPrefix("\(copy.path) is damaged (") == true, "\(error?.message ?? "")")
        #expect(try files(target).isEmpty)
    }

    @Test("what is no journal, or is there already, is refused by name")
    func refused() async throws {
        let folder = try TestFolder()
        func message(_ body: () throws -> Void) -> String {
            (#expect(throws: RelayError.self) { try body() })?.message ?? ""
        }
        let nothing = JournalInspection(directory: folder.path)
        let missing =
            "there is no journal at \(folder.path)/journal.sqlite: name its directory with --state-directory DIR"
        #expect(message { _ = try nothing.check() } == missing)
        #expect(message { _ = try nothing.copy(to: folder.path + "/copy") } == missing)
        try folder.write(String(repeating: "no database ", count: 100), to: "text")
        let text = JournalInspection(file: folder.path + "/text")
        #expect(message { _ = try text.check() }.hasPrefix("\(folder.path)/text is damaged ("))
        let copy = try await JournalCopy.ended()
        let journal = JournalInspection(directory: copy.directory.path)
        #expect(
            message { _ = try journal.copy(to: folder.path + "/text") }
                == "\(folder.path)/text is there already: a backup replaces nothing; name another file")
        // What others put there under a name that they could guess is neither used nor in the way.
        #expect(symlink(folder.path + "/stolen", folder.path + "/new.unfinished") == 0)
        try folder.write(String(repeating: "x", count: 1_000), to: "new.unfinished-journal")
        _ = try journal.copy(to: folder.path + "/new")
        _ = try JournalInspection(file: folder.path + "/new").check()
        #expect(message { _ = try journal.copy(to: folder.path + "/none/new") }.contains("No such file or directory"))
        // Beside the journal, such a name would be taken for its log.
        #expect(
            message { _ = try journal.copy(to: copy.directory.path + "/journal.sqlite-wal") }.contains(
                "is a name that the journal itself uses"))
        #expect(try files(folder) == ["new", "new.unfinished", "new.unfinished-journal", "text"])
    }

    @Test("one that is to end leaves nothing") func cancelled() async throws {
        let copy = try await JournalCopy.ended()
        let (path, target) = (copy.directory.path, try TestFolder())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try JournalInspection(directory: path).copy(to: target.path + "/copy")
        }
        let error = await #expect(throws: RelayError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try files(target).isEmpty)
    }
}
