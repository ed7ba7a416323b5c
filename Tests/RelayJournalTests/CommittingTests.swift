import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("Committing", .heavy, .tags(.g1, .g5)) struct CommittingTests {
    @Test("what is published is emitted before the publisher goes on, and can be read") func published() async throws {
        let ledger = try Ledger(TestFolder(), epoch: 77)
        #expect(ledger.run.head == 0 && ledger.run.runs == [.init(epoch: 77, first: 1)])
        try await ledger.book(10, 20)
        #expect(ledger.stream.sequences == [1, 2])
        let page = try await ledger.page()
        #expect(page.events.map(\.body) == ledger.stream.emitted.map(\.body))
        #expect(page.events.map(\.name) == ["Booked", "Booked"])
        #expect((page.epoch, page.oldest, page.through, page.head) == (77, 1, 2, 2))
        let stamps = page.events.map { Stamped($0.body) }
        #expect(stamps.map(\.amount) == [10, 20] && stamps.map(\.previous) == [0, 1])
    }
    @Test("state and events are committed together, and a unit sees its own writes") func unit() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (id INTEGER PRIMARY KEY, label TEXT)") }
        let labels = try await ledger.journal.unitOfWork { unit -> [String] in
            #expect(try unit.execute("INSERT INTO box (label) VALUES (\("Kitchen"))") == 1)
            try unit.publish(Booked(amount: 5, text: "Kitchen"))
            try unit.publish(Closed(year: 2000))
            return try unit.query("SELECT label FROM box WHERE id = \(1)", as: String.self)
        }
        #expect(labels == ["Kitchen"] && ledger.stream.emitted.map(\.index) == [0, 1])
    }
    @Test("what a unit throws undoes it alone, and leaves no hole") func rolledBack() async throws {
        struct Refused: Error {}
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)") }
        // Together, so that they share commits.
        let refusals = await withTaskGroup(of: Int.self) { group in
            for number in 1...200 {
                group.addTask {
                    do {
                        try await ledger.journal.unitOfWork { unit in
                            try unit.execute(SQL("INSERT INTO box VALUES (?)", [.integer(Int64(number))]))
                            try unit.publish(Booked(amount: Int64(number), text: "box"))
                            if number.isMultiple(of: 3) { throw Refused() }
                        }
                        return 0
                    } catch is Refused { return 1 } catch { return 1_000 }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(refusals == 66)
        #expect(ledger.stream.sequences == Array(1...134))
        let boxes = try await ledger.journal.unitOfWork { unit in
            try unit.query("SELECT id FROM box ORDER BY id") { $0.integer(0) }
        }
        #expect(boxes == (1...200).filter { !$0.isMultiple(of: 3) })
        #expect(try await ledger.all().map { Stamped($0.body).amount }.sorted() == boxes)
    }
    @Test("the sequence goes on in the next run, and both runs are known") func runs() async throws {
        let directory = try TestFolder()
        do {
            let ledger = try Ledger(directory, epoch: .max)
            try await ledger.book(1, 2, 3)
            ledger.journal.close()
        }
        let ledger = try Ledger(directory, epoch: 5)
        #expect(ledger.run.head == 3 && ledger.run.last == ["Booked": 3])
        #expect(ledger.run.runs == [.init(epoch: .max, first: 1), .init(epoch: 5, first: 4)])
        try await ledger.book(4)
        #expect(ledger.stream.emitted.map { Stamped($0.body).previous } == [3])
        let first = try await ledger.page()
        #expect((first.epoch, first.through, first.head) == (.max, 3, 4))
        let second = try await ledger.page(after: 3)
        #expect((second.epoch, second.through, second.head, second.events.count) == (5, 4, 4, 1))
    }
    @Test("what queues up before the commit shares it, and what queues up during it the next one", arguments: [1, 2])
    func group(commits: Int) async throws {
        let disk = try FaultDisk()
        let held = Held(isArmed: false)
        var faults = disk.faults
        faults.at = { step in if commits == 2 && step == .beforeCommit { held.wait() } }
        // Nobody leads: what is held is the journal's own thread, and not one of the pool.
        let ledger = try Ledger(TestFolder(), faults: faults, vfs: disk.name, permit: nil)
        try await ledger.book(0)
        let before = disk.calls(.sync)
        held.arm()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await ledger.journal.unitOfWork { unit in
                    if commits == 1 { held.wait() }
                    try unit.publish(Booked(amount: 1, text: ""))
                }
            }
            _ = await eventually { held.isHeld }
            for amount in 2...51 { group.addTask { try? await ledger.book(Int64(amount)) } }
            _ = await eventually { ledger.writer.waiting == 50 }
            held.release()
        }
        #expect(disk.calls(.sync) - before == commits)
        #expect(ledger.stream.sequences == Array(1...52))
    }
    @Test("events of several threads are emitted in the order of their sequences") func order() async throws {
        let ledger = try Ledger(TestFolder())
        await withTaskGroup(of: Void.self) { group in
            for publisher in 0..<16 {
                group.addTask {
                    for number in 0..<40 {
                        let amount = Int64(publisher * 1_000 + number)
                        if number.isMultiple(of: 2) {
                            try? await ledger.book(amount)
                        } else {
                            try? await ledger.journal.unitOfWork { try $0.publish(Booked(amount: amount, text: "u")) }
                        }
                    }
                }
            }
        }
        #expect(ledger.stream.sequences == Array(1...640))
        let stamps = ledger.stream.emitted.map { Stamped($0.body) }
        #expect(stamps.map(\.sequence) == Array(1...640) && stamps.map(\.previous) == Array(0..<640))
        // Each publisher's in its own order.
        for publisher in Int64(0)..<16 {
            let own = stamps.map(\.amount).filter { $0 / 1_000 == publisher }
            #expect(own == own.sorted() && own.count == 40)
        }
        #expect(try await ledger.all().map(\.body) == ledger.stream.emitted.map(\.body))
    }
    @Test("volatile events of a unit wait for its commit, and go with it") func volatile() async throws {
        struct Refused: Error {}
        let moved = Mutex<[Int64]>([])
        let ledger = try Ledger(
            TestFolder(), encoder: LedgerEncoder(moved: { place in moved.withLock { $0.append(place) } }))
        try await ledger.journal.unitOfWork { unit in
            try unit.publish(Moved(place: 1))
            try unit.publish(Booked(amount: 1, text: ""))
            try unit.publish(Moved(place: 2))
            #expect(moved.withLock { $0.isEmpty })
        }
        await #expect(throws: Refused.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.publish(Moved(place: 3))
                throw Refused()
            }
        }
        #expect(moved.withLock { $0 } == [1, 2] && ledger.stream.sequences == [1])
    }
    @Test("steps come in their order, with one between any two emissions") func steps() async throws {
        let steps = Mutex<[JournalStep]>([])
        let ledger = try Ledger(
            TestFolder(), faults: JournalFaults(at: { step in steps.withLock { $0.append(step) } }))
        try await ledger.book(1, 2, 3)
        #expect(
            steps.withLock { $0 } == [.beforeCommit, .afterCommit, .betweenEmissions, .betweenEmissions, .beforeResume])
    }
}
