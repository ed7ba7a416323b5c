import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal
import RelayWire

@Suite("A mirror's journal", .heavy, .tags(.g2, .g5, .g6)) struct ReplicaJournalTests {
    private typealias Part = ReplicaTransaction.Part
    private func part(_ body: (inout Part) -> Void) -> ReplicaTransaction {
        var part = Part(ReplicaModel.interface)
        body(&part)
        return ReplicaTransaction([part])
    }
    /// As a killed process leaves it.
    private func killed(_ folder: TestFolder) throws -> TestFolder {
        let copy = try TestFolder()
        for name in ["journal.sqlite", "journal.sqlite-wal"] {
            let bytes = try #require(Self.read("\(folder.path)/\(name)"))
            try #require(Self.write(bytes, "\(copy.path)/\(name)"))
        }
        return copy
    }
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var (all, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { all += chunk[..<count] }
        return all
    }
    private static func write(_ bytes: [UInt8], _ path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        defer { fclose(file) }
        return fwrite(bytes, 1, bytes.count, file) == bytes.count
    }
    /// A random part that fits.
    private func part(_ model: inout ReplicaModel, _ random: inout SeededGenerator) -> Part {
        var part = Part(ReplicaModel.interface)
        if model.runs.isEmpty {
            model.beginRun(&part)
        } else if Int.random(in: 0..<8, using: &random) == 0 {
            model.truncate(to: .random(in: 0...model.head, using: &random), &part)
        } else if Int.random(in: 0..<8, using: &random) == 0 {
            model.beginRun(&part)
        }
        if model.head == 0, part.keepsThrough == nil, Bool.random(using: &random) {
            model.begin(behind: .random(in: 0...5, using: &random), &part)
            if part.runs != nil { part.runs = model.runs }
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            model.skip(.random(in: 1...6, using: &random), &part, &random)
        }
        if Int.random(in: 0..<4, using: &random) > 0 {
            let texts = (0..<Int.random(in: 1...40, using: &random)).map { _ -> (UInt32, String) in
                let length = Int.random(in: 0..<10, using: &random) == 0 ? 6_000 : 60
                let schema: UInt32 = [3, 3, 3, 7, 9].randomElement(using: &random) ?? 3
                return (schema, String(repeating: "x", count: .random(in: 0..<length, using: &random)))
            }
            model.publish(texts, &part)
        }
        if Int.random(in: 0..<5, using: &random) == 0 { model.snapshot(&part) }
        model.keep([UInt8](repeating: .random(in: 0...255, using: &random), count: 9), &part)
        return part
    }

    @Test(
        "whatever comes, the file has what a model in memory has, after kills and restarts, too",
        arguments: 0..<24 as Range<UInt64>)
    func model(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var model = ReplicaModel()
        var folder = try TestFolder()
        var journal = try ReplicaJournal(directory: folder.path, synchronous: .normal)
        for step in 0..<40 {
            let transaction = ReplicaTransaction(
                (0..<Int.random(in: 1...3, using: &random)).map { _ in part(&model, &random) })
            if Int.random(in: 0..<4, using: &random) == 0 {
                // Nothing of one whose last part contradicts the others.
                var other = Part(ReplicaModel.interface)
                other.gap = model.head + 2...model.head + 3
                await #expect(throws: RelayError.self) {
                    try await journal.apply(ReplicaTransaction(transaction.parts + [other]))
                }
            }
            try await journal.apply(transaction)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                journal.close()
                journal = try ReplicaJournal(directory: folder.path, synchronous: .normal)
            case 1:
                let copy = try killed(folder)
                journal.close()
                folder = copy
                journal = try ReplicaJournal(directory: folder.path, synchronous: .normal)
            default: break
            }
            let difference = try await ReplicaReader(journal).difference(from: model)
            if let difference {
                Issue.record("seed \(seed), step \(step): \(difference)")
                break
            }
            // Which finds whatever does not agree.
            let summary = try JournalInspection(directory: folder.path).check()
            #expect(summary.events == model.events.count)
        }
        journal.close()
    }
    @Test(
        "a kill at any step of a commit leaves a transaction or nothing",
        arguments: [JournalStep.beforeCommit, .afterCommit])
    func killedAt(step: JournalStep) async throws {
        let folder = try TestFolder()
        let held = Held(isArmed: false)
        let journal = try ReplicaJournal(
            directory: folder.path, faults: JournalFaults(at: { if $0 == step { held.wait() } }), permit: nil)
        var model = ReplicaModel()
        try await journal.apply(
            part {
                model.beginRun(&$0); model.publish([(3, "a"), (9, "b")], &$0); model.keep([1], &$0)
            })
        let before = model
        held.arm()
        let next = part {
            model.truncate(to: 1, &$0); model.publish([(7, "c")], &$0); model.keep([2], &$0)
        }
        let applying = Task { try await journal.apply(next) }
        #expect(await eventually { held.isHeld })
        let copy = try killed(folder)
        held.release()
        try await applying.value
        journal.close()
        let restarted = try ReplicaJournal(directory: copy.path)
        let expected = step == .beforeCommit ? before : model
        #expect(try await ReplicaReader(restarted).difference(from: expected) == nil)
        restarted.close()
    }
    @Test("own retention removes events; a document's state stays") func retention() async throws {
        let folder = try TestFolder()
        var model = ReplicaModel()
        let journal = try ReplicaJournal(
            directory: folder.path,
            retention: ReplicaRetention(exceptions: [ReplicaModel.interface: Retention(count: 5)]))
        try await journal.apply(
            part {
                model.beginRun(&$0); model.publish([(9, "kept")], &$0)
            })
        try await journal.apply(part { model.snapshot(&$0) })
        try await journal.apply(part { model.publish((0..<50).map { (3, "\($0)") }, &$0) })
        let reader = ReplicaReader(journal)
        let run = try #require(model.runs.last)
        _ = try reader.attach(epoch: run.epoch)
        #expect(await eventually { (try? await reader.page(after: 0).events.count) == 5 })
        #expect(try await reader.page(after: 0).oldest == 47)
        await journal.detach()
        let snapshot = try reader.attach(epoch: run.epoch)
        #expect(snapshot.documents["State"]?.sequence == 1 && snapshot.unknownDocuments.isEmpty)
        // Behind what was removed nothing is left, and the replica goes on there.
        await journal.detach()
        try await journal.apply(
            part {
                model.truncate(to: 20, &$0); model.publish([(3, "new")], &$0)
            })
        #expect(try await reader.attachAndRead(model).map(\.sequence) == [21])
        journal.close()
        #expect(try JournalInspection(directory: folder.path).check().events == 1)
    }
    @Test("what an attached service cannot learn is refused until it has ended; events and gaps leave") func attached()
        async throws
    {
        var model = ReplicaModel()
        let journal = try ReplicaJournal(directory: TestFolder().path)
        try await journal.apply(
            part {
                model.beginRun(&$0); model.publish([(3, "a"), (7, "b")], &$0); model.snapshot(&$0)
            })
        let reader = ReplicaReader(journal)
        let run = try #require(model.runs.last)
        _ = try reader.attach(epoch: run.epoch, documents: [])
        #expect(throws: RelayError.self) { try reader.attach(epoch: run.epoch) }
        try await journal.apply(part { model.publish([(7, "c"), (9, "d")], &$0) })
        #expect(reader.stream.sequences == [3, 4])
        #expect(reader.stream.emitted.map(\.index) == [1, 2])
        var random = SeededGenerator(seed: 1)
        try await journal.apply(part { model.skip(3, &$0, &random) })
        let before = model
        let transactions = [
            part { model.truncate(to: 1, &$0) },
            part {
                var other = before; other.beginRun(&$0)
            },
            part { $0.schemas = [11: EventSchema(event: "New", fields: [])] },
        ]
        for transaction in transactions {
            let error = await #expect(throws: RelayError.self) { try await journal.apply(transaction) }
            #expect(error?.code == .conflict, "\(String(describing: error))")
        }
        await #expect(throws: RelayError.self) { try await journal.log.access.storage.commit([]) }
        await journal.detach()
        for transaction in transactions.dropFirst() { try await journal.apply(transaction) }
        journal.close()
    }
    @Test("contradictions are refused, and nothing is done") func contradictions() async throws {
        var model = ReplicaModel()
        let folder = try TestFolder()
        let journal = try ReplicaJournal(directory: folder.path)
        try await journal.apply(
            part {
                model.beginRun(&$0); model.publish([(3, "a"), (3, "b")], &$0)
            })
        let body = ReplicaModel.body(3, "x", 3, previous: 2)
        func events(_ change: (inout (epoch: UInt64, first: UInt64, schema: UInt32, body: [UInt8])) -> Void)
            -> ReplicaTransaction
        {
            var all = (epoch: model.runs[0].epoch, first: UInt64(3), schema: UInt32(3), body: body)
            change(&all)
            return part {
                $0.events = ReplicaEvents(
                    epoch: all.epoch, first: all.first, [.init(schema: all.schema, body: 0..<all.body.count)],
                    in: all.body)
            }
        }
        let wrong = [
            events { $0.epoch = 9 }, events { $0.first = 4 }, events { $0.schema = 8 },
            events { $0.body = ReplicaModel.body(3, "x", 4, previous: 2) },
            events { $0.body = ReplicaModel.body(3, "x", 3, previous: 3) },
            events { $0.body = ReplicaModel.body(7, "xx", 3, previous: 2) }, events { $0.body = [1, 2, 3] },
            part { $0.schemas = [3: EventSchema(event: "Other", fields: [])] }, part { $0.base = 7 },
            part { $0.gap = 2...9 }, part { $0.gap = 4...9 }, part { $0.runs = [] },
            part { $0.runs = [StreamRun(epoch: 5, first: 9)] },
            part { $0.runs = [StreamRun(epoch: 5, first: 1), StreamRun(epoch: 5, first: 2)] },
            part {
                $0.states = ReplicaStates(
                    position: 2, documents: [.init(name: "State", sequence: 0, schema: 9, fields: [])])
            },
        ]
        for (place, transaction) in wrong.enumerated() {
            let error = await #expect(throws: RelayError.self, "\(place)") { try await journal.apply(transaction) }
            #expect(error?.code == .invalidArgument, "\(place): \(String(describing: error))")
        }
        #expect(try await ReplicaReader(journal).difference(from: model) == nil)
        try await journal.apply(events { _ in })
        journal.close()
    }
    @Test("a replica is no service's journal, nor the reverse; both can be checked") func kinds() async throws {
        let (folder, own) = (try TestFolder(), try TestFolder())
        try ReplicaJournal(directory: folder.path).close()
        let error = #expect(throws: RelayError.self) { try EventJournal(directory: folder.path) }
        #expect(error?.code == .invalidArgument && error?.message.contains("is a mirror's") == true)
        #expect(try JournalInspection(directory: folder.path).check().interfaces == 0)
        let ledger = try Ledger(own)
        try await ledger.book(1)
        ledger.journal.close()
        let other = #expect(throws: RelayError.self) { try ReplicaJournal(directory: own.path) }
        #expect(other?.code == .invalidArgument && other?.message.contains("no mirror's") == true)
    }
    @Test("a full disk: nothing was done, and it can be tried again") func full() async throws {
        let disk = try FaultDisk()
        var model = ReplicaModel()
        let journal = try ReplicaJournal(directory: TestFolder().path, faults: disk.faults, vfs: disk.name)
        try await journal.apply(
            part {
                model.beginRun(&$0); model.publish([(3, "a")], &$0)
            })
        let before = model
        let next = part {
            model.publish((0..<100).map { (3, "\($0)") }, &$0); model.keep([4], &$0)
        }
        disk.fail(.write, with: .full, of: "-wal")
        let error = await #expect(throws: RelayError.self) { try await journal.apply(next) }
        #expect(error?.code == .storageFull)
        #expect(try await ReplicaReader(journal).difference(from: before) == nil)
        #expect(await eventually { (try? await journal.apply(next)) != nil })
        #expect(try await ReplicaReader(journal).difference(from: model) == nil)
        journal.close()
    }
}

extension ReplicaReader {
    fileprivate func attachAndRead(_ model: ReplicaModel) async throws -> [LogPage.Event] {
        _ = try attach(epoch: model.runs.last?.epoch ?? 0)
        return try await page(after: 0).events
    }
}
