import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal

@Suite("A refused unit", .heavy, .tags(.g5)) struct RefusalTests {
    private struct Refused: Error, Equatable { var number: Int64 = 0 }
    private struct Other: Error {}

    private func boxes(_ ledger: Ledger) async throws -> [Int64] {
        try await ledger.journal.unitOfWork { try $0.query("SELECT id FROM box ORDER BY id") { $0.integer(0) } }
    }
    private func makeBoxes(_ ledger: Ledger) async throws {
        try await ledger.journal.unitOfWork { try $0.execute("CREATE TABLE box (id INTEGER PRIMARY KEY)") }
    }

    @Test("is undone with its events, and reported by others, among units that share its commit")
    func reported() async throws {
        let ledger = try Ledger(TestFolder())
        try await makeBoxes(ledger)
        let refusals = await withTaskGroup(of: Int64.self) { group in
            for number in Int64(1)...200 {
                group.addTask {
                    do {
                        try await ledger.journal.unitOfWork { unit in
                            if number.isMultiple(of: 5) { throw Refused(number: number) }
                            try unit.execute(SQL("INSERT INTO box VALUES (?)", [.integer(number)]))
                            try unit.publish(Booked(amount: number, text: "done"))
                            if number.isMultiple(of: 3) { throw Refused(number: number) }
                        } onRefusal: { (refusal: Refused, events) in
                            try events.publish(Closed(year: Int32(refusal.number)))
                        }
                        return 0
                    } catch let refusal as Refused { return refusal.number } catch { return -1 }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.filter { $0 != 0 }.sorted()
        }
        let refused = (Int64(1)...200).filter { $0.isMultiple(of: 5) || $0.isMultiple(of: 3) }
        #expect(refusals == refused)
        #expect(try await boxes(ledger) == (1...200).filter { !refused.contains($0) })
        #expect(ledger.stream.sequences == Array(1...200))
        let events = try await ledger.all()
        #expect(events.map(\.body) == ledger.stream.emitted.map(\.body))
        #expect(events.filter { $0.name == "Closed" }.count == refused.count)
        #expect(
            events.filter { $0.name == "Booked" }.map { Stamped($0.body).amount }.allSatisfy { !refused.contains($0) })
    }

    @Test("is not reported when it failed for another reason, nor when its report fails: that error is thrown")
    func notReported() async throws {
        let ledger = try Ledger(TestFolder())
        try await makeBoxes(ledger)
        await #expect(throws: Other.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.execute("INSERT INTO box VALUES (1)")
                throw Other()
            } onRefusal: { (_: Refused, events) in
                try events.publish(Closed(year: 1))
            }
        }
        await #expect(throws: Other.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.execute("INSERT INTO box VALUES (1)")
                throw Refused()
            } onRefusal: { (_: Refused, events) in
                try events.publish(Closed(year: 1))
                throw Other()
            }
        }
        await #expect(throws: Refused.self) {
            try await ledger.journal.unitOfWork { _ in
                throw Refused()
            } onRefusal: { (_: Refused, _) in
            }
        }
        #expect(try await boxes(ledger) == [] && ledger.stream.sequences == [])
    }

    @Test("gets the error of the commit in place of its refusal, and nobody sees its event", arguments: [true, false])
    func failedCommit(isReported: Bool) async throws {
        let (disk, directory, held) = (try FaultDisk(), try TestFolder(), Held())
        do {
            // Nobody leads: what is held is the journal's own thread, and not one of the pool.
            let ledger = try Ledger(directory, faults: disk.faults, vfs: disk.name, permit: nil)
            try await makeBoxes(ledger)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    let error = await #expect(throws: RelayError.self) {
                        try await ledger.journal.unitOfWork { unit in
                            held.wait()
                            try unit.execute("INSERT INTO box VALUES (1)")
                        }
                    }
                    #expect(error?.code == .storageFull)
                }
                _ = await eventually { held.isHeld }
                group.addTask {
                    let error = await #expect(throws: RelayError.self) {
                        try await ledger.journal.unitOfWork { unit in
                            // Refused on what is never committed.
                            let boxes = try unit.query("SELECT id FROM box") { $0.integer(0) }
                            throw Refused(number: boxes.first ?? 0)
                        } onRefusal: { (refusal: Refused, events) in
                            if isReported { try events.publish(Closed(year: Int32(refusal.number))) }
                        }
                    }
                    #expect(error?.code == .storageFull)
                }
                _ = await eventually { ledger.writer.waiting == 1 }
                disk.fail(.write, with: .full, of: "-wal")
                held.release()
                try await group.waitForAll()
            }
            #expect(try await boxes(ledger) == [] && ledger.stream.sequences == [])
            ledger.journal.close()
        }
        let ledger = try Ledger(directory, epoch: 2)
        #expect(try await boxes(ledger) == [] && ledger.run.head == 0)
    }

    @Test("sends the volatile events of its report, and none of its own") func volatile() async throws {
        let moved = Mutex<[Int64]>([])
        let ledger = try Ledger(
            TestFolder(), encoder: LedgerEncoder(moved: { place in moved.withLock { $0.append(place) } }))
        await #expect(throws: Refused.self) {
            try await ledger.journal.unitOfWork { unit in
                try unit.publish(Moved(place: 1))
                throw Refused()
            } onRefusal: { (_: Refused, events) in
                try events.publish(Moved(place: 2))
            }
        }
        #expect(moved.withLock { $0 } == [2])
    }
}
