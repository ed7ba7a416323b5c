import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import RelayJournal

/// What was committed survives a power cut at any moment, after failed syncs and restarts too.
@Suite("Power cuts", .computing, .tags(.g5, .g6)) struct PowerCutTests {
    /// How many cuts there are: each is opened, and half of them are cuts during the recovery from the other half.
    private static let cuts = TestForm.rounds(2_000, soak: 200_000)
    private static let cutsOfRecording = 100

    /// In parts that run beside each other. NORMAL promises less, and is tried less.
    @Test(
        "what was acknowledged is there after a cut, in order, and the journal goes on",
        arguments: 0..<4 as Range<UInt64>)
    func cuts(part: UInt64) async throws {
        let synchronous = part < 3 ? EventJournal.Synchronous.full : .normal
        // Another one each run, unless this repeats one.
        let seed = getenv("RELAY_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0...(.max))
        var random = SeededGenerator(seed: seed &+ part)
        var tally = CutTally()
        while tally.cuts < Self.cuts / 4 {
            let recordingSeed = random.next()
            let recording: Recording
            do { recording = try await Recording(seed: recordingSeed, synchronous) } catch {
                Issue.record("seed \(seed), part \(part), recording \(tally.recordings): \(error)")
                return
            }
            if let failure = try await recording.cut(Self.cutsOfRecording / 2, &random, &tally) {
                Issue.record("seed \(seed), part \(part), recording \(tally.recordings): \(failure)")
                return
            }
            tally.recordings += 1
            // A run that says nothing for long is taken for one that hangs.
            if tally.recordings.isMultiple(of: 100) {
                print("power cuts, \(synchronous.pragma): \(tally) so far")
                fflush(nil)
            }
        }
        print("power cuts, \(synchronous.pragma): \(tally)")
        // What a cut has to meet was met.
        #expect(tally.failedSyncs > 0 && tally.restarts > 0 && tally.pruned > 0 && tally.lost > 0)
    }
    /// Deterministic: the finding that the recovery of the WAL is for.
    @Test("a commit whose sync failed, a restart, more commits, and a cut that loses what was never synced")
    func failedSync() async throws {
        let directory = try TestFolder()
        let disk = try PowerCutDisk()
        let history = History()
        var ledger: Ledger? = try Ledger(directory, vfs: disk.name)
        if let ledger { for _ in 0..<3 { try await history.book(1, into: ledger, disk) } }
        disk.failSync(after: 0)
        let failing = try #require(ledger)
        await #expect(throws: RelayError.self) { try await history.book(1, into: failing, disk) }
        // The service ends with 74, and starts again: what it reads comes from the kernel's memory.
        disk.kill()
        failing.journal.close()
        ledger = try Ledger(directory, epoch: 2, vfs: disk.name)
        if let ledger { for _ in 0..<3 { try await history.book(1, into: ledger, disk) } }
        let position = disk.position
        disk.kill()
        ledger?.journal.close()
        ledger = nil

        for loss in PowerCut.Loss.allCases {
            var cut = try PowerCut(of: disk)
            cut.advance(to: position)
            let image = try TestFolder()
            try cut.write(losing: loss, seed: 1, to: image.path)
            var tally = CutTally()
            let failure = try await history.branch(at: position).check(
                image, PowerCutDisk(), isDurable: true, epoch: 9, &tally)
            #expect(failure == nil, "\(loss)")
        }
    }
}

/// What a run of cuts has met.
private struct CutTally: CustomStringConvertible {
    var (recordings, cuts, failedSyncs, restarts, pruned, lost) = (0, 0, 0, 0, 0, 0)
    var description: String {
        "\(cuts) cuts of \(recordings) recordings with \(restarts) restarts and \(failedSyncs) failed syncs; "
            + "\(lost) cuts lost something, \(pruned) had pruned events"
    }
}

/// What was attempted and what was acknowledged, by one writer.
///
/// Each event carries a hash over all events before it, which the domain's table has too: so an event proves its whole past.
private final class History: Sendable {
    struct Point: Hashable {
        var count: UInt64 = 0
        var hash: UInt64 = 0
        func next(_ number: UInt64) -> Point {
            Point(count: count + 1, hash: (hash ^ number &* 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9 &+ 1)
        }
    }
    private struct State {
        var attempts: UInt64 = 0
        /// Each with the moment from which it may be on disk.
        var known: [Point: Int] = [Point(): 0]
        var acknowledged: [(position: Int, point: Point)] = []
    }
    private let state = Mutex(State())

    /// Publishes events in one unit, and remembers when they were acknowledged.
    func book(_ count: Int, text: String = "", into ledger: Ledger, _ disk: PowerCutDisk) async throws {
        let last = try await ledger.journal.unitOfWork { [self] unit in
            try unit.execute("CREATE TABLE IF NOT EXISTS tally (id INTEGER PRIMARY KEY, count INTEGER, hash INTEGER)")
            var point = Self.point(try unit.query("SELECT count, hash FROM tally") { ($0.integer(0), $0.integer(1)) })
            for _ in 0..<count {
                point = attempt(after: point, at: disk.position)
                try unit.publish(Booked(amount: Int64(bitPattern: point.hash), text: text))
            }
            try unit.execute(
                SQL(
                    "INSERT OR REPLACE INTO tally VALUES (1, ?, ?)",
                    [.integer(Int64(bitPattern: point.count)), .integer(Int64(bitPattern: point.hash))]))
            return point
        }
        let position = disk.position
        state.withLock { $0.acknowledged.append((position, last)) }
    }
    private func attempt(after point: Point, at position: Int) -> Point {
        state.withLock { state in
            state.attempts += 1
            let next = point.next(state.attempts)
            state.known[next] = position
            return next
        }
    }
    private static func point(_ rows: [(Int64, Int64)]) -> Point {
        rows.first.map { Point(count: UInt64(bitPattern: $0.0), hash: UInt64(bitPattern: $0.1)) } ?? Point()
    }

    /// What had been attempted and acknowledged by a moment, for what comes after a cut at it: on another disk.
    func branch(at position: Int) -> History {
        let branch = History()
        let past = state.withLock { state in
            State(
                attempts: state.attempts, known: state.known.filter { $0.value <= position }.mapValues { _ in 0 },
                acknowledged: state.acknowledged.filter { $0.position <= position }.map { (0, $0.point) })
        }
        branch.state.withLock { $0 = past }
        return branch
    }
    /// Opens what is left after a cut, looks at all of it, and goes on. Returns what is wrong.
    ///
    /// - Parameter isDurable: what was acknowledged must be there.
    func check(
        _ image: TestFolder, _ disk: PowerCutDisk, isDurable: Bool, epoch: UInt64,
        _ tally: inout CutTally
    ) async throws -> String? {
        let ledger: Ledger
        do { ledger = try Ledger(image, epoch: epoch, vfs: disk.name) } catch {
            return "not opened: \(error)"
        }
        defer { ledger.journal.close() }
        let head = ledger.run.head
        let events = try await ledger.all().map {
            Point(count: $0.sequence, hash: UInt64(bitPattern: Stamped($0.body).amount))
        }
        let rows = try? await ledger.journal.unitOfWork { unit in
            try unit.query("SELECT count, hash FROM tally") { ($0.integer(0), $0.integer(1)) }
        }
        let last = Self.point(rows ?? [])
        if last.count != head { return "\(last.count) in the table, \(head) in the journal" }
        let oldest = (ledger.run.pruned["Booked"] ?? 0) + 1
        if oldest > 1 { tally.pruned += 1 }
        if events.map(\.count) != (oldest..<max(oldest, head + 1)).map({ $0 }) {
            return "\(events.map(\.count)) of \(oldest) to \(head)"
        }
        let (known, acknowledged) = state.withLock { ($0.known, $0.acknowledged.map(\.point)) }
        if !(events + [last]).allSatisfy({ known[$0] != nil }) {
            return "something that was never written: \(events), \(last)"
        }
        if let end = events.last, end != last { return "the table is at \(last), the events at \(end)" }
        if isDurable {
            let newest = acknowledged.map(\.count).max() ?? 0
            if head < newest { return "acknowledged up to \(newest), there up to \(head)" }
            let kept = Set(events)
            if let gone = acknowledged.first(where: { $0.count >= oldest && !kept.contains($0) }) {
                return "acknowledged and not there: \(gone)"
            }
        }
        if known.keys.contains(where: { $0.count > head }) { tally.lost += 1 }
        if let fault = await fault(of: ledger) { return fault }
        try await book(2, into: ledger, disk)
        if ledger.stream.sequences != [head + 1, head + 2] { return "\(ledger.stream.sequences) after \(head)" }
        return nil
    }
    /// What SQLite and the counters say.
    private func fault(of ledger: Ledger) async -> String? {
        guard let storage = ledger.storage as? JournalStorage else { return "no journal" }
        let fault = Mutex<String?>("not asked")
        await storage.call { engine in
            let found: String?
            do {
                let pages = try engine.database.texts("PRAGMA integrity_check")
                let counters = try engine.database.integers(
                    """
                    SELECT count(*) FROM relay_interfaces i WHERE
                    events <> (SELECT count(*) FROM relay_events WHERE interface = i.id)
                    OR bytes <> (SELECT total(length(body) + coalesce(size, 0)) FROM relay_events WHERE interface = i.id)
                    OR sequence <> (SELECT max(last) FROM relay_names WHERE interface = i.id)
                    """)
                found = pages == ["ok"] && counters == [0] ? nil : "\(pages), \(counters ?? [])"
            } catch { found = "\(error)" }
            fault.withLock { $0 = found }
        }
        return fault.withLock { $0 }
    }
}

/// A journal's life on a disk that records it: commits, groups, checkpoints, pruning, vacuum, migration, failed syncs, kills, clean
/// stops and starts.
private final class Recording {
    static let retention = Retention(count: 30)
    private let directory: TestFolder
    private let disk: PowerCutDisk
    private let history = History()
    private let synchronous: EventJournal.Synchronous
    private var random: SeededGenerator
    private var ledger: Ledger?
    /// Another program that reads, and keeps checkpoints from the end of the WAL.
    private var foreign: Database?
    private var (restarts, failures) = (0, 0)

    init(seed: UInt64, _ synchronous: EventJournal.Synchronous) async throws {
        (directory, disk, random) = (try TestFolder(isInMemory: true), try PowerCutDisk(), SeededGenerator(seed: seed))
        self.synchronous = synchronous
        try open()
        for _ in 0..<40 { try await step() }
        end(isClean: chance(2))
        foreign = nil
    }
    private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    // MARK: Its life

    private func open() throws {
        restarts += 1
        while ledger == nil {
            do {
                ledger = try Ledger(
                    directory, epoch: UInt64(restarts), retention: Self.retention, synchronous: synchronous,
                    vfs: disk.name)
            } catch {
                // A sync may fail here, too: then the next start.
                if !disk.hasFailed { throw error }
                failures += 1
                disk.healSync()
                disk.kill()
            }
        }
    }
    private func end(isClean: Bool) {
        // A clean stop waits for readers.
        if isClean { foreign = nil } else { disk.kill() }
        ledger?.journal.close()
        ledger = nil
    }
    private func step() async throws {
        if chance(10) { disk.failSync(after: Int.random(in: 0..<6, using: &random)) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: await between { $0.maintenance.nextCheckpoint = 0 }
        case 1: await between { $0.maintenance.nextCheckpoint = 0 }
        case 2: await between { $0.maintenance.nextStep = 0 }
        // Removes, gives pages back and truncates the WAL.
        case 3:
            foreign = nil
            await between { $0.isStarved = true }
        case 4: toggleForeign()
        case 5:
            end(isClean: true)
            try open()
        case 6:
            end(isClean: false)
            try open()
        case 7, 8: await group()
        default: await unit()
        }
        if disk.hasFailed {
            failures += 1
            disk.healSync()
        }
        if let storage = ledger?.storage as? JournalStorage, storage.writer.failure != nil {
            end(isClean: chance(2))
            try open()
        }
    }
    private func toggleForeign() {
        if foreign != nil {
            foreign = nil
            return
        }
        foreign = try? Database(directory.database, isReadOnly: true, vfs: nil)
        try? foreign?.execute("BEGIN")
        _ = try? foreign?.integers("SELECT count(*) FROM relay_events")
    }
    private func text() -> String {
        let length = chance(6) ? Int.random(in: 350..<6_000, using: &random) : Int.random(in: 0..<300, using: &random)
        return String(repeating: "t", count: length)
    }
    private func unit() async {
        guard let ledger else { return }
        try? await history.book(
            Int.random(in: 1...4, using: &random), text: text(), into: ledger, disk)
    }
    private func group() async {
        guard let ledger else { return }
        let texts = (0..<3).map { _ in text() }
        await withTaskGroup { [history, disk] tasks in
            for text in texts { tasks.addTask { try? await history.book(1, text: text, into: ledger, disk) } }
        }
    }
    /// Does something on the journal's thread, lets it keep what there is to keep, and waits for that.
    private func between(_ body: @escaping @Sendable (JournalEngine) -> Void) async {
        guard let storage = ledger?.storage as? JournalStorage else { return }
        await storage.call(body)
        await storage.call { _ = $0.maintain(isIdle: true) }
    }

    // MARK: Its ends

    /// Cuts the power at so many moments, and each time once more during the recovery. Returns what is wrong after one of them.
    func cut(_ count: Int, _ random: inout SeededGenerator, _ tally: inout CutTally) async throws -> String? {
        tally.restarts += restarts
        tally.failedSyncs += failures
        var cut = try PowerCut(of: disk)
        let end = disk.position
        let positions = (0..<count).map { _ in Int.random(in: 0...end, using: &random) }.sorted()
        for position in positions {
            cut.advance(to: position)
            let (image, second) = (try TestFolder(isInMemory: true), try TestFolder(isInMemory: true))
            let (seed, loss) = (random.next(), Self.loss(&random))
            try cut.write(losing: loss, seed: seed, to: image.path)
            let next = try PowerCutDisk()
            for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-journal"] {
                let path = "\(image.path)/\(name)"
                if access(path, F_OK) == 0 { try next.adopt(path) }
            }
            let begin = next.position
            let story = "\(loss) at \(position) of \(end), seed \(seed)"
            tally.cuts += 1
            let first = history.branch(at: position)
            let isDurable = synchronous == .full
            if let failure = try await first.check(image, next, isDurable: isDurable, epoch: 100, &tally) {
                return "\(story): \(failure)"
            }
            var again = try PowerCut(of: next)
            let place = Int.random(in: begin...next.position, using: &random)
            let (nextSeed, nextLoss) = (random.next(), Self.loss(&random))
            again.advance(to: place)
            try again.write(losing: nextLoss, seed: nextSeed, to: second.path)
            tally.cuts += 1
            if let failure = try await first.branch(at: place).check(
                second, PowerCutDisk(), isDurable: isDurable, epoch: 101, &tally)
            {
                return "\(story), then \(nextLoss) at \(place) of \(next.position), seed \(nextSeed): \(failure)"
            }
        }
        return nil
    }
    private static func loss(_ random: inout SeededGenerator) -> PowerCut.Loss {
        PowerCut.Loss.allCases.randomElement(using: &random) ?? .all
    }
}
