import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal

@Suite("The runs of a journal", .heavy, .tags(.g3, .g6)) struct RunsTests {
    private func common(_ ledger: Ledger, _ question: RunQuestion) async throws -> CommonRun? {
        try await ledger.storage.find(question, in: Ledger1.name)
    }
    /// Runs that there were, without a start of each.
    private func insert(_ count: Int, from epoch: Int, at first: String, _ directory: TestFolder) throws {
        try Database(directory.database, isReadOnly: false, vfs: nil).execute(
            """
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO relay_runs SELECT 1, \(epoch) + i, \(first), 0 FROM n
            """)
    }
    @Test("every run is kept and found by its epoch, with events or without; what a start reads is bounded")
    func kept() async throws {
        let directory = try TestFolder()
        try await Ledger(directory, epoch: 1).book(1, 2)
        // As many services that published nothing, and as many that published an event each.
        try insert(60_000, from: 100_000, at: "3", directory)
        try insert(40_000, from: 200_000, at: "2 + i", directory)
        let database = try Database(directory.database, isReadOnly: false, vfs: nil)
        try database.execute(
            """
            WITH RECURSIVE n(i) AS (VALUES (3) UNION ALL SELECT i + 1 FROM n WHERE i < 40002)
            INSERT INTO relay_events SELECT 1, i, 1, 1, NULL, NULL, x'00' FROM n;
            UPDATE relay_interfaces SET sequence = 40002, events = 40002,
                bytes = (SELECT sum(length(body)) FROM relay_events);
            UPDATE relay_names SET last = 40002 WHERE name = 'Booked';
            """)
        let ledger = try Ledger(directory, epoch: 7)
        #expect(ledger.run.runs.count == JournalEngine.knownRuns && ledger.run.runs.last?.epoch == 7)
        #expect(ledger.run.sample?.count == StreamRun.most && ledger.run.sample?.first?.epoch == 1)
        #expect(try database.integers("SELECT count(*) FROM relay_runs") == [100_002])
        for (epoch, after, from) in [
            (1, 2, 2), (1, 9, 2), (100_001, 2, 2), (160_000, 2, 2), (160_000, 5, 2), (200_001, 3, 3), (200_001, 9, 3),
            (240_000, 40_002, 40_002), (7, 40_002, 40_002),
        ] as [(UInt64, UInt64, UInt64)] {
            let found = try await common(ledger, RunQuestion(epoch: epoch, after: after))
            #expect(found?.from(head: 50_000) == from, "\(epoch) after \(after)")
        }
        #expect(try await common(ledger, RunQuestion(epoch: 99, after: 2)) == nil)
        let pages = [
            try await ledger.page(limit: 1), try await ledger.page(after: 2), try await ledger.page(after: 40_001),
        ]
        #expect(pages.map(\.epoch) == [1, 200_001, 240_000] && pages.map(\.through) == [1, 3, 40_002])
        // Retention leaves them.
        ledger.journal.close()
        let short = try Ledger(directory, epoch: 8, retention: Retention(count: 10))
        #expect(await eventually { short.stream.pruned["Booked"] ?? 0 >= 39_992 })
        #expect(try await common(short, RunQuestion(epoch: 1, after: 2))?.from(head: 50_000) == 2)
        #expect(try database.integers("SELECT count(*) FROM relay_runs") == [100_003])
    }
    @Test("a run that begins before the one it follows is damage: where it is among many, a full check finds it")
    func contradiction() async throws {
        let directory = try TestFolder()
        try await Ledger(directory, epoch: 1).book(1, 2)
        try insert(1_000, from: 100, at: "3", directory)
        let database = try Database(directory.database, isReadOnly: false, vfs: nil)
        let examination = JournalExamination(database: database)
        #expect(try examination.contradiction() == nil && examination.fullContradiction { false } == nil)
        try database.execute("UPDATE relay_runs SET first = 1 WHERE epoch = 500")
        #expect(try examination.contradiction() == nil)
        #expect(
            try examination.fullContradiction { false }
                == "org.example.Ledger1: a run began at #1, behind one that began at #3")
        try database.execute("UPDATE relay_runs SET first = 9 WHERE epoch = 600")
        #expect(
            try examination.contradiction() == "org.example.Ledger1: a run began at #9, behind one that began at #1")
    }
}

private enum Shift1: EventInterface {
    static let name = "org.example.Shift1"
    static var contract: Contract<Self> {
        Begun.self
        Staff.self
    }
    struct Begun: DomainEvent {
        typealias Interface = Shift1
        let number: Int64
    }
    struct Staff: EditableDocument {
        typealias Interface = Shift1
        var names: [String]
        static let initial = Self(names: [])
        enum Refusal: String, CommandRefusal { case none = "None" }
    }
}

@Suite("A service that was started thousands of times", .heavy, .tags(.g2, .g6)) struct ManyStartsTests {
    private static let name = "org.example.Shift"
    private let (folder, cursors, harness): (TestFolder, TestFolder, TestHarness)
    // Starts only: what a disk does is tried elsewhere.
    init() throws { (folder, cursors, harness) = (try TestFolder(isInMemory: true), try TestFolder(), TestHarness()) }

    private func open() throws -> (EventJournal, EventService) {
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        return (journal, try EventService(Self.name, harness.bus, [Shift1.self], journal: journal) { _ in })
    }
    private func publish(_ number: Int64, _ journal: EventJournal) async throws {
        try await journal.unitOfWork { try $0.publish(Shift1.Begun(number: number)) }
    }
    /// What a subscriber of this name receives, until it has `last`.
    private func resumed(until last: Int64) async throws -> [String] {
        let received = Mutex<[String]>([])
        let relay = try EventRelay(
            following: Self.name, on: harness.bus, interfaces: Shift1.self, cursors: cursors.path)
        let subscription = try relay.subscribe(to: Shift1.Begun.self, from: .resuming("away")) { event in
            received.withLock { $0.append("\(event.number)") }
        } onGap: { gap in
            received.withLock { $0.append("\(gap)") }
        }
        relay.activate()
        #expect(await eventually { received.withLock { $0.last } == "\(last)" })
        subscription.cancel()
        relay.invalidate()
        return received.withLock { $0 }
    }

    @Test("a subscriber that was away from the first start on gets exactly what it missed; so does an editor's version")
    func away() async throws {
        var (journal, service) = try open()
        try await harness.start(service)
        for number in 1...3 as ClosedRange<Int64> { try await publish(number, journal) }
        #expect(try await resumed(until: 3) == ["1", "2", "3"])
        try await journal.unitOfWork { try $0.set(Shift1.Staff(names: ["Ada"])) }
        let version = try service.document(Shift1.Staff.self).version
        try await harness.stop(service)
        journal.close()
        var expected: [String] = []
        for start in 1...TestForm.rounds(5_000, soak: 20_000) {
            (journal, service) = try open()
            // Most have nothing to say.
            if start.isMultiple(of: 250) {
                expected.append("\(start)")
                try await publish(Int64(start), journal)
            }
            journal.close()
        }
        (journal, service) = try open()
        try await harness.start(service)
        try await publish(-1, journal)
        #expect(try await resumed(until: -1) == expected + ["-1"])
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: Shift1.self)
        relay.activate()
        try await relay.ready()
        let set = try await relay.submit(Shift1.Staff(names: ["Ada", "Bo"]), basedOn: version)
        #expect(set.sequence > version.sequence)
        relay.invalidate()
        try await harness.stop(service)
        journal.close()
    }

    @Test("a document that is followed takes the state of a journal that was restored, though nothing is published")
    func restored() async throws {
        var (journal, service) = try open()
        try await harness.start(service)
        try await publish(1, journal)
        try await journal.unitOfWork { try $0.set(Shift1.Staff(names: ["Ada"])) }
        let shown = Mutex<[[String]]>([])
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: Shift1.self)
        let gaps = Mutex<[Gap]>([])
        let begun = Mutex(0)
        let events = try relay.subscribe(to: Shift1.Begun.self, from: .beginning) { _ in
            begun.withLock { $0 += 1 }
        } onGap: { gap in
            gaps.withLock { $0.append(gap) }
        }
        let following = try relay.follow(Shift1.Staff.self) { present in
            shown.withLock { $0.append(present.state.names) }
        } onFailure: { _ in
        }
        relay.activate()
        #expect(await eventually { shown.withLock { $0 } == [["Ada"]] })
        try await harness.stop(service)
        journal.close()
        let backup = folder.path + "/backup.sqlite"
        try Database(folder.database, isReadOnly: false, vfs: nil).execute("VACUUM INTO '\(backup)'")
        (journal, service) = try open()
        try await harness.start(service)
        try await journal.unitOfWork { try $0.set(Shift1.Staff(names: ["Ada", "Bo"])) }
        try await publish(2, journal)
        #expect(await eventually { shown.withLock { $0.last } == ["Ada", "Bo"] })
        // A subscriber gets a gap only for what it has had.
        #expect(await eventually { begun.withLock { $0 } == 2 })
        try await harness.stop(service)
        journal.close()
        for suffix in ["-wal", "-shm"] { unlink(folder.database + suffix) }
        #expect(rename(backup, folder.database) == 0)
        (journal, service) = try open()
        try await harness.start(service)
        #expect(await eventually { shown.withLock { $0.last } == ["Ada"] }, "\(shown.withLock { $0 })")
        #expect(await eventually { gaps.withLock { !$0.isEmpty } })
        #expect(gaps.withLock { $0.map(\.reason) } == [.historyReplaced] && gaps.withLock { $0[0].commonThrough } == 2)
        following.cancel()
        events.cancel()
        relay.invalidate()
        try await harness.stop(service)
        journal.close()
    }
}
