import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

/// Each with a permit of its own: the process's may be with any other test.
@Suite("A caller that commits on its own thread", .heavy, .tags(.g1, .g5)) struct LeadingTests {
    @Test("its event has left, and can be read, when its work is done") func led() async throws {
        let ledger = try Ledger(TestFolder(), permit: CommitPermit())
        let emitted = Mutex<[UInt64]>([])
        let leader = Leader(ledger.writer) { emitted.withLock { $0 = ledger.stream.sequences } }
        #expect(await eventually { leader.isOver } && leader.failure == nil)
        #expect(emitted.withLock { $0 } == [] && ledger.stream.sequences == [1])
        #expect(try await ledger.page().head == 1)
    }
    @Test(
        "those who come before its commit share it, and those who come during it the next one, in their order",
        arguments: [1, 2])
    func group(commits: Int) async throws {
        let disk = try FaultDisk()
        let held = Held(isArmed: false)
        var faults = disk.faults
        faults.at = { step in if commits == 2 && step == .beforeCommit { held.wait() } }
        let ledger = try Ledger(TestFolder(), faults: faults, vfs: disk.name, permit: CommitPermit())
        let leader = Leader(ledger.writer, amount: 0) {
            held.arm()
            if commits == 1 { held.wait() }
        }
        #expect(await eventually { held.isHeld })
        let before = disk.calls(.sync)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for amount in 1...50 {
                group.addTask { try await ledger.book(Int64(amount)) }
                // So that it is known which came first.
                #expect(await eventually { ledger.writer.waiting == amount })
            }
            held.release()
            try await group.waitForAll()
        }
        #expect(await eventually { leader.isOver } && disk.calls(.sync) - before == commits)
        #expect(ledger.stream.emitted.map { Stamped($0.body).amount } == Array(0...50))
        #expect(ledger.stream.sequences == Array(1...51))
    }
    @Test("one journal at a time has the permit: another one's thread commits") func permit() async throws {
        let permit = CommitPermit()
        let (first, second) = (
            try Ledger(TestFolder(), permit: permit), try Ledger(TestFolder(), permit: permit)
        )
        let held = Held()
        let leader = Leader(first.writer) { held.wait() }
        #expect(await eventually { held.isHeld } && !permit.take())
        try await second.book(1, 2)
        #expect(second.stream.sequences == [1, 2] && first.stream.sequences == [])
        held.release()
        #expect(await eventually { leader.isOver && permit.take() })
    }
    @Test("no actor's thread commits") @MainActor func actors() async throws {
        let ledger = try Ledger(TestFolder(), permit: CommitPermit())
        let main = pthread_self()
        for _ in 0..<20 { #expect(try await ledger.journal.unitOfWork { _ in pthread_self() } != main) }
    }
    @Test("closing waits for it, and for those behind it; the directory is free after that") func closing() async throws
    {
        let directory = try TestFolder()
        let ledger = try Ledger(directory, permit: CommitPermit())
        let held = Held()
        let leader = Leader(ledger.writer) { held.wait() }
        #expect(await eventually { held.isHeld })
        let queued = Task { try await ledger.book(2) }
        #expect(await eventually { ledger.writer.waiting == 1 })
        let closer = Leader { ledger.journal.close() }
        // Nothing more is taken in.
        #expect(await eventually { !ledger.writer.submit(.call { _ in }) })
        #expect(!closer.isOver && !leader.isOver)
        #expect(throws: RelayError.self) { _ = try EventJournal(directory: directory.path) }
        held.release()
        #expect(await eventually { closer.isOver && leader.isOver } && leader.failure == nil)
        try await queued.value
        #expect(ledger.stream.sequences == [1, 2])
        #expect(try Ledger(directory, epoch: 2).run.head == 2)
    }
    @Test("it may close the journal itself: its unit is the last") func closingWithin() async throws {
        let directory = try TestFolder()
        let ledger = try Ledger(directory, permit: CommitPermit())
        let leader = Leader(ledger.writer) { ledger.journal.close() }
        #expect(await eventually { leader.isOver } && leader.failure == nil)
        let later = await #expect(throws: RelayError.self) { try await ledger.book(2) }
        #expect(later?.code == .unavailable)
        ledger.journal.close()
        #expect(ledger.stream.sequences == [1])
        #expect(try Ledger(directory, epoch: 2).run.head == 1)
    }
    @Test("it may release the journal: its unit is the last") func releasingWithin() async throws {
        let directory = try TestFolder()
        let journal: Mutex<EventJournal?>
        let leader: Leader
        do {
            let opened = try EventJournal(directory: directory.path, faults: JournalFaults(), permit: CommitPermit())
            journal = Mutex(opened)
            let interface = LoggedInterface(
                name: Ledger1.name, epoch: 1, retention: Retention(), events: LedgerEncoder.schemas,
                stream: RecordingStream())
            _ = try opened.access.storage.open([interface], encoder: LedgerEncoder())
        }
        leader = Leader(try #require((journal.withLock { $0?.access.storage } as? JournalStorage)?.writer)) {
            let last = journal.withLock { $0.take() }
            _ = consume last
        }
        #expect(await eventually { leader.isOver } && leader.failure == nil)
        #expect(await eventually { (try? Ledger(directory, epoch: 2).run.head) == 1 })
    }
    @Test("a failure at its commit is told, and refuses those behind it", arguments: [false, true])
    func failing(isClosing: Bool) async throws {
        let disk = try FaultDisk()
        let held = Held()
        let isLed = Mutex(false)
        var faults = disk.faults
        faults.at = { step in
            guard step == .beforeCommit, isLed.withLock({ $0 }) else { return }
            held.wait()
            disk.fail(.sync, with: .syncing, of: "-wal")
        }
        let ledger = try Ledger(TestFolder(), faults: faults, vfs: disk.name, permit: CommitPermit())
        let told = Mutex<[RelayError.Code]>([])
        ledger.storage.onFailure { [journal = ledger.journal] error in
            told.withLock { $0.append(error.code) }
            if isClosing { journal.close() }
        }
        let leader = Leader(ledger.writer) { isLed.withLock { $0 = true } }
        #expect(await eventually { held.isHeld })
        let queued = Task { try await ledger.book(2) }
        #expect(await eventually { ledger.writer.waiting == 1 })
        held.release()
        let refusal = await #expect(throws: RelayError.self) { try await queued.value }
        #expect(await eventually { leader.isOver })
        #expect(refusal?.code == .unavailable && leader.failure?.code == .outcomeUnknown)
        #expect(told.withLock { $0 } == [.outcomeUnknown] && ledger.stream.sequences == [])
        ledger.journal.close()
    }
    @Test("a disk that is full is relieved by the journal's thread") func full() async throws {
        let disk = try FaultDisk()
        let relievers = Mutex<[pthread_t]>([])
        var faults = disk.faults
        faults.reserve = { [reserve = faults.reserve] isTaken in
            if !isTaken { relievers.withLock { $0.append(pthread_self()) } }
            return reserve?(isTaken) ?? true
        }
        let ledger = try Ledger(TestFolder(), faults: faults, vfs: disk.name, permit: CommitPermit())
        let thread = Mutex<pthread_t>(0)
        let leader = Leader(ledger.writer) {
            thread.withLock { $0 = pthread_self() }
            disk.fail(.write, with: .full, of: "-wal")
        }
        #expect(await eventually { leader.isOver && relievers.withLock { !$0.isEmpty } })
        #expect(leader.failure?.code == .storageFull && ledger.stream.sequences == [])
        #expect(!relievers.withLock { $0 }.contains(thread.withLock { $0 }))
        try await ledger.book(2)
        #expect(ledger.stream.sequences == [1] && access(ledger.directory.path + "/reserve", F_OK) == 0)
    }
    @Test("what there is to keep is kept, though nobody else commits") func keeping() async throws {
        let ledger = try Ledger(TestFolder(), retention: Retention(count: 100), permit: CommitPermit())
        var largest = 0
        let publisher = Leader {
            // Without a pause: each of them leads, unless there is something to keep.
            let done = Atomic<Int>(0)
            for amount in 0..<6_000 {
                ledger.writer.submit(.unit(Booking(Int64(amount)) { done.add(1, ordering: .releasing) }))
                while done.load(ordering: .acquiring) <= amount { sched_yield() }
            }
        }
        let isOver = await eventually {
            var status = stat()
            if stat(ledger.directory.database + "-wal", &status) == 0 { largest = max(largest, Int(status.st_size)) }
            return publisher.isOver
        }
        #expect(isOver)
        // 6,000 commits write some 18,000 pages of the WAL.
        #expect(largest < 12 << 20, "\(largest)")
        #expect(await eventually { ledger.stream.pruned == ["Booked": 5_900] })
        #expect(ledger.stream.sequences == Array(1...6_000))
    }
}

/// A unit that publishes one event, of a thread that waits for it.
private final class Booking: UnitBody {
    private let amount: Int64
    private let onEnd: @Sendable () -> Void
    init(_ amount: Int64, _ onEnd: @escaping @Sendable () -> Void) { (self.amount, self.onEnd) = (amount, onEnd) }
    func run(in unit: inout UnitOfWork) throws { try unit.publish(Booked(amount: amount, text: "")) }
    func finish(_ failure: (any Error)?) { onEnd() }
}
