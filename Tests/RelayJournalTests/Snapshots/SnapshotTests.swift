import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("A snapshot of the domain's tables", .heavy, .tags(.g5)) struct SnapshotTests {
    private func makeBoxes(_ ledger: Ledger) async throws {
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)") }
    }
    private static func count(_ snapshot: inout JournalSnapshot) throws -> Int64 {
        try snapshot.query("SELECT count(*) FROM box") { $0.integer(0) }[0]
    }

    @Test("belongs to the sequence that it names, while units are committed; and sees those that have returned")
    func position() async throws {
        let ledger = try Ledger(TestFolder(), epoch: 5)
        try await makeBoxes(ledger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        let own = try await ledger.journal.unitOfWork { unit in
                            try unit.publish(Booked(amount: 1, text: ""))
                            return try unit.query("INSERT INTO box DEFAULT VALUES RETURNING id") { $0.integer(0) }[0]
                        }
                        let (boxes, position, isThere) = try await ledger.journal.read { snapshot in
                            (
                                try Self.count(&snapshot), try snapshot.position(of: Ledger1.self),
                                try snapshot.query(SQL("SELECT 1 FROM box WHERE id = ?", [.integer(own)])) { _ in true }
                            )
                        }
                        #expect(UInt64(boxes) == position.sequence && position.epoch == 5 && isThere == [true])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "reads, and nothing else; of the journal's own tables nothing at all",
        arguments: [
            "INSERT INTO box VALUES (9)", "DELETE FROM box", "UPDATE box SET id = 2", "CREATE TABLE other (x)",
            "CREATE TEMP TABLE other (x)", "DROP TABLE box", "SELECT * FROM relay_events", "SELECT * FROM Relay_runs",
            "SELECT * FROM view_of_events", "SELECT id FROM box, (SELECT sequence FROM relay_interfaces)",
            "PRAGMA user_version", "PRAGMA query_only = 0", "SELECT * FROM pragma_table_info('box')", "BEGIN", "COMMIT",
            "ROLLBACK", "SAVEPOINT s", "ATTACH ':memory:' AS other", "VACUUM INTO '/tmp/relay-stolen'", "ANALYZE",
            "REINDEX", "SELECT 1; SELECT 2", "", "nonsense",
        ])
    func refused(sql: String) async throws {
        let ledger = try Ledger(TestFolder())
        try await makeBoxes(ledger)
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("INSERT INTO box VALUES (1)")
            try unit.execute("CREATE VIEW view_of_events AS SELECT * FROM relay_events")
        }
        let boxes = try await ledger.journal.read { snapshot in
            let error = #expect(throws: RelayError.self) { try snapshot.query(SQL(sql)) { _ in } }
            #expect(error?.code == .invalidArgument)
            // And goes on with what is right.
            return try Self.count(&snapshot)
        }
        #expect(boxes == 1)
    }

    /// What several tasks count: a class, since a closure that is sent away cannot capture a local mutex.
    private final class Seen: Sendable {
        let running = Mutex(0)
        let most = Mutex(0)
        let isOver = Mutex(false)
    }
    @Test("holds up no unit, and sees nothing of those that come after it; two at a time run")
    func besideUnits() async throws {
        let ledger = try Ledger(TestFolder())
        try await makeBoxes(ledger)
        let seen = Seen()
        let counts = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<6 {
                group.addTask {
                    try await ledger.journal.read { snapshot in
                        let before = try Self.count(&snapshot)
                        let now = seen.running.withLock { count in
                            count += 1
                            return count
                        }
                        seen.most.withLock { $0 = max($0, now) }
                        // Until a unit was committed beside it.
                        while !seen.isOver.withLock({ $0 }) { usleep(1_000) }
                        seen.running.withLock { $0 -= 1 }
                        return [before, try Self.count(&snapshot)]
                    }
                }
            }
            #expect(await eventually { seen.running.withLock { $0 } == SnapshotReaders.limit })
            try await ledger.journal.unitOfWork { try $0.execute("INSERT INTO box VALUES (1)") }
            seen.isOver.withLock { $0 = true }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(seen.most.withLock { $0 } == SnapshotReaders.limit)
        #expect(counts.allSatisfy { $0[0] == $0[1] } && counts.filter { $0[0] == 0 }.count == SnapshotReaders.limit)
    }

    @Test("is interrupted when the journal closes, with those that wait; later ones are refused")
    func closing() async throws {
        let ledger = try Ledger(TestFolder())
        let seen = Seen()
        let endless = "WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x"
        await withTaskGroup(of: RelayError.Code?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        _ = try await ledger.journal.read { snapshot in
                            seen.running.withLock { $0 += 1 }
                            return try snapshot.query(SQL(endless)) { $0.integer(0) }
                        }
                        return nil
                    } catch { return (error as? RelayError)?.code }
                }
            }
            #expect(await eventually { seen.running.withLock { $0 } == SnapshotReaders.limit })
            ledger.journal.close()
            for await code in group { #expect(code == .unavailable) }
        }
        let error = await #expect(throws: RelayError.self) { try await ledger.journal.read { _ in } }
        #expect(error?.code == .unavailable && error?.message.contains("is closed") == true)
        // Nothing is left open: the file alone is the whole journal.
        #expect(access(ledger.directory.database + "-wal", F_OK) != 0)
    }

    @Test("may close the journal: its own queries end, and the file is whole once it has returned")
    func closesWithin() async throws {
        let ledger = try Ledger(TestFolder())
        try await makeBoxes(ledger)
        let code = try await ledger.journal.read { snapshot in
            _ = try Self.count(&snapshot)
            ledger.journal.close()
            return #expect(throws: RelayError.self) { try Self.count(&snapshot) }?.code
        }
        #expect(code == .unavailable)
        await #expect(throws: RelayError.self) { try await ledger.book(1) }
        #expect(await eventually { access(ledger.directory.path + "/clean", F_OK) == 0 })
        #expect(access(ledger.directory.database + "-wal", F_OK) != 0)
    }

    @Test("throws what its closure throws, and NotFound for an interface that the journal does not keep")
    func errors() async throws {
        struct Stop: Error {}
        let ledger = try Ledger(TestFolder())
        await #expect(throws: Stop.self) { try await ledger.journal.read { _ in throw Stop() } }
        await #expect(throws: Stop.self) {
            try await ledger.journal.read { try $0.query("SELECT 1 UNION SELECT 2") { _ in throw Stop() } as [Int] }
        }
        let error = await #expect(throws: RelayError.self) {
            try await ledger.journal.read { try $0.position(of: Gauge1.self).sequence }
        }
        #expect(error?.code == .notFound && error?.message.contains("org.example.Gauge1") == true)
        #expect(try await ledger.journal.read { try $0.position(of: Ledger1.self).sequence } == 0)
    }

    @Test("is refused once the journal has failed") func failed() async throws {
        let disk = try FaultDisk()
        let ledger = try Ledger(TestFolder(), faults: disk.faults, vfs: disk.name)
        disk.fail(.sync, with: .syncing, of: "-wal")
        await #expect(throws: RelayError.self) { try await ledger.book(1) }
        let error = await #expect(throws: RelayError.self) { try await ledger.journal.read { _ in } }
        #expect(error?.code == .unavailable && error?.message.contains("restart") == true)
    }
}
