import Dispatch
import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("The check of the whole file", .heavy, .tags(.g8)) struct CheckTests {
    private func storage(_ ledger: Ledger) throws -> JournalStorage {
        try #require(ledger.storage as? JournalStorage)
    }
    /// Overwrites a page that no look-up at the start reads, as a bad disk does: nobody's times change.
    private func damageDeepPage(_ copy: JournalCopy) throws {
        var status = stat()
        try #require(stat(copy.path, &status) == 0)
        copy.write([UInt8](repeating: 0x55, count: 4_096), to: copy.path, at: Self.deepPage * 4_096)
        var times = [status.st_atim, status.st_mtim]
        try #require(utimensat(AT_FDCWD, copy.path, &times, 0) == 0)
    }
    private static let deepPage = 60
    /// 200 pages of events.
    private func large() async throws -> JournalCopy {
        let ledger = try Ledger(TestFolder())
        let text = String(repeating: "x", count: 1_000)
        for _ in 0..<6 { try await ledger.storage.commit((0..<100).map { LedgerEncoder.booked($0, text) }) }
        ledger.journal.close()
        return JournalCopy(directory: ledger.directory)
    }
    private func mark(_ copy: JournalCopy, _ name: String) -> Bool {
        access(copy.directory.path + "/" + name, F_OK) == 0
    }

    @Test("after a good end the start reads a few pages, and checks nothing") func clean() async throws {
        let copy = try await large()
        #expect(mark(copy, "clean"))
        try damageDeepPage(copy)
        let ledger = try Ledger(copy.directory, epoch: 2)
        #expect(try storage(ledger).check == nil)
        // From now on it is another file.
        #expect(!mark(copy, "clean"))
        #expect(ledger.run.head == 600)
    }
    @Test(
        "after a kill the start is as short; the check finds the damage, stops the journal, and the next start refuses")
    func found() async throws {
        let copy = try await large()
        unlink(copy.directory.path + "/clean")
        try damageDeepPage(copy)
        let failures = Mutex<[RelayError]>([])
        do {
            let ledger = try opened(copy) { error in failures.withLock { $0.append(error) } }
            #expect(await eventually { !failures.withLock { $0 }.isEmpty })
            let failure = try #require(failures.withLock { $0.first })
            #expect(
                failure.code == .unavailable && UnfitJournal.explains(failure)
                    && failure.message.contains("as a check beside the running service found"))
            let error = await #expect(throws: RelayError.self) { try await ledger.book(1) }
            #expect(error?.code == .unavailable)
            ledger.journal.close()
        }
        #expect(mark(copy, "damaged") && !mark(copy, "clean"))
        for _ in 0..<2 { #expect(copy.refusal()?.message.hasPrefix("\(copy.path) is damaged (") == true) }
        #expect(mark(copy, "damaged"))
        // A backup in its place is checked, and served.
        let backup = try await large()
        copy.write(copy.bytes(backup.path), to: copy.path)
        unlink(copy.wal)
        let ledger = try Ledger(copy.directory, epoch: 3)
        #expect(try storage(ledger).check == nil)
        #expect(ledger.run.head == 600 && !mark(copy, "damaged"))
        ledger.journal.close()
        #expect(mark(copy, "clean"))
    }
    /// A journal whose check begins when it is open: it could else find the damage first, and stop the journal.
    private func opened(
        _ copy: JournalCopy, onFailure: @escaping @Sendable (RelayError) -> Void
    ) throws -> Ledger {
        let isOpen = DispatchSemaphore(value: 0)
        var faults = JournalFaults()
        // The check's thread is nobody's but its own: it may wait.
        faults.checking = { isOpen.wait() }
        defer { isOpen.signal() }
        let ledger = try Ledger(copy.directory, epoch: 2, faults: faults)
        ledger.storage.onFailure(onFailure)
        return ledger
    }
    @Test(
        "contradictions in the middle are found, too",
        arguments: [
            ("DELETE FROM relay_events WHERE sequence = 50", "has 49 events without a hole, up to #49"),
            (
                "UPDATE relay_events SET schema = 9 WHERE sequence = 50",
                "has event #50 of schema 9, of which its names know"
            ),
            (
                "UPDATE relay_events SET schema = 2 WHERE sequence = 50",
                "has event #50 of schema 2, of which its names know"
            ),
            ("UPDATE relay_events SET body = zeroblob(1) WHERE sequence = 50", "bytes where its counters say"),
            ("UPDATE relay_interfaces SET bytes = bytes + 1", "bytes where its counters say"),
            (
                "UPDATE relay_events SET place = 7, size = 1 WHERE sequence = 50",
                "has event #50 with a body at 7 of 1 bytes, where none of its is"
            ),
            (
                "UPDATE relay_events SET place = -1, size = 1 WHERE sequence = 50",
                "has event #50 with a body at -1 of 1 bytes"
            ),
            (
                "UPDATE relay_events SET place = 1, size = 9223372036854775807 WHERE sequence = 50",
                "bytes, which no journal writes"
            ),
            ("UPDATE relay_events SET size = -1 WHERE sequence = 50", "has event #50 with a body at 0 of -1 bytes"),
            (
                "UPDATE relay_events SET place = 4056, size = 1 WHERE sequence = 50; "
                    + "UPDATE relay_interfaces SET tail = 8112", "row 8796093022209 of relay_bodies"
            ),
            ("INSERT INTO relay_bodies VALUES (9, x'00')", "relay_bodies has 1 row of no interface"),
            (
                "INSERT INTO relay_bodies VALUES ((1 << 43) + 5, x'00'), ((1 << 43) + 6, x'00')",
                "has 2 rows in relay_bodies where its events have 0"
            ),
        ]) func content(sql: String, reason: String) async throws
    {
        for copy in [try await JournalCopy.killed(), try await JournalCopy.ended()] {
            try copy.edit(sql)
            let failures = Mutex<[RelayError]>([])
            let ledger = try opened(copy) { error in failures.withLock { $0.append(error) } }
            #expect(await eventually { !failures.withLock { $0 }.isEmpty })
            #expect(failures.withLock { $0.first?.message.contains(reason) } == true, "\(failures.withLock { $0 })")
            ledger.journal.close()
            #expect(copy.refusal()?.message.contains(reason) == true)
        }
    }
    @Test("a sound journal is checked once after a kill, beside its work; a good end is then a mark") func sound()
        async throws
    {
        let copy = try await JournalCopy.killed()
        do {
            let ledger = try Ledger(copy.directory, epoch: 2)
            let check = try #require(try storage(ledger).check)
            try await ledger.book(1, 2, 3)
            #expect(await eventually { check.isSound })
            try await ledger.book(4)
            ledger.journal.close()
        }
        #expect(mark(copy, "clean"))
        #expect(try storage(Ledger(copy.directory, epoch: 3)).check == nil)
    }
    @Test("what another program writes, while the service runs or not, is followed by a check") func foreign()
        async throws
    {
        let copy = try await JournalCopy.ended()
        try copy.edit("CREATE TABLE other (x)")
        do {
            let ledger = try Ledger(copy.directory, epoch: 2)
            let check = try #require(try storage(ledger).check)
            #expect(await eventually { check.isSound })
            ledger.journal.close()
        }
        #expect(mark(copy, "clean"))
        do {
            let ledger = try Ledger(copy.directory, epoch: 3)
            #expect(try storage(ledger).check == nil)
            try copy.edit("INSERT INTO other VALUES (1)")
            try await ledger.book(1)
            ledger.journal.close()
        }
        #expect(!mark(copy, "clean"))
    }
    @Test("a check that is ended early leaves no mark, and holds nobody up") func interrupted() async throws {
        let copy = try await large()
        unlink(copy.directory.path + "/clean")
        let file = JournalFile(in: copy.directory.path, vfs: nil)
        let check = JournalCheck(file, isLive: false)
        // As if it had ended before it began: the thread's first question is whether to go on.
        check.state.withLock { $0.isEnding = true }
        try check.start()
        check.stop()
        guard case .interrupted? = check.outcome else { Issue.record("\(String(describing: check.outcome))"); return }
        let ledger = try Ledger(copy.directory, epoch: 2)
        ledger.journal.close()
        // Closed at once: sound or not, the mark is there only if the check came to its end.
        #expect(mark(copy, "clean") == (try storage(ledger).check?.isSound))
    }
    @Test("the start's check ends with its caller's task, and leaves everything as it was") func cancelled()
        async throws
    {
        let copy = try await large()
        JournalMarks(in: copy.directory.path).setDamaged("for the test")
        let before = copy.state
        let opening = Task {
            // Cancelled before it begins.
            while !Task.isCancelled { await Task.yield() }
            return #expect(throws: RelayError.self) { _ = try EventJournal(directory: copy.directory.path) }
        }
        opening.cancel()
        let error = await opening.value
        #expect(error?.code == .cancelled)
        #expect(copy.state == before && mark(copy, "damaged"))
        #expect(try Ledger(copy.directory, epoch: 2).run.head == 600)
    }
    @Test("a check gives way to a WAL that grows, and begins anew") func givesWay() async throws {
        let copy = try await large()
        let check = JournalCheck(JournalFile(in: copy.directory.path, vfs: nil), isLive: false, pause: 1_000_000)
        check.state.withLock { $0.givesWay = true }
        try check.start()
        #expect(await eventually { check.isSound })
    }
}
