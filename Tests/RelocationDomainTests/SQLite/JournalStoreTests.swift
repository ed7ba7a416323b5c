import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
@testable import RelocationDomain
import TestSupport
import TestTraits
import Testing

@Suite("Boxes and items in the journal's file", .heavy, .tags(.g5, .g6))
struct JournalStoreTests {
    /// Opens the file anew, as a restarted service does.
    private func open(_ folder: TestFolder, _ log: EventLog = EventLog(), epoch: UInt64 = 1) async throws
        -> EventJournal
    {
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        _ = try await JournalStore(journal)
        try TestedStore.open(journal, log, epoch: epoch)
        return journal
    }
    /// All that the journal keeps, in order.
    private func kept(_ journal: EventJournal) async throws -> [any RelocationEvent] {
        var (events, after): ([any RelocationEvent], UInt64) = ([], 0)
        while true {
            let request = LogRequest(
                interface: Relocation1.name, names: nil, after: after, limit: .max, byteLimit: 256 << 10)
            let page = try await withCheckedThrowingContinuation { continuation in
                journal.access.storage.read(request) { continuation.resume(with: $0) }
            }
            events += try page.events.map { try RelocationEncoder.event(named: $0.name, $0.body) }
            if page.through >= page.head { return events }
            after = page.through
        }
    }

    @Test(
        "are there again when it is opened anew, with the next ids, and replaying all of its events rebuilds exactly them",
        arguments: 1...3 as ClosedRange<UInt64>)
    func survive(seed: UInt64) async throws {
        let folder = try TestFolder()
        var random = SeededGenerator(seed: seed)
        var model = NaiveModel()
        for epoch in 1...4 as ClosedRange<UInt64> {
            let journal = try await open(folder, epoch: epoch)
            let commands = RelocationCommands(store: try await JournalStore(journal))
            #expect(try await Warehouse { try await commands.handle($0) } == model.contents)
            for step in 0..<200 {
                let command = NaiveModel.Request.random(using: &random, boxes: model.lastBoxID, items: model.lastItemID)
                let (expected, outcome) = (model.run(command), await command.run(on: commands))
                guard outcome == expected else {
                    Issue.record("seed \(seed), run \(epoch), step \(step), \(command): \(outcome), not \(expected)")
                    return
                }
            }
            var replay = Replay()
            for event in try await kept(journal) { replay.apply(event) }
            #expect(replay.contents == model.contents)
            #expect(replay.contradictions.isEmpty)
            // Whoever still holds it: the next one is to have the directory.
            journal.close()
        }
    }

    @Test("tables of an older version are brought forward, once, with what is in them")
    func migrates() async throws {
        let folder = try TestFolder()
        let journal = try await open(folder)
        let store = try await JournalStore(journal)
        _ = try await store.perform(Ordering(OrderBox(label: "Kitchen", capacity: 10)))
        let added =
            RelocationSchema.migrations + [Migration("room", "ALTER TABLE relocation_boxes ADD COLUMN room TEXT")]
        for _ in 1...2 {
            try await journal.migrate(RelocationSchema.name, by: added)
            let titles: [String] = try await journal.unitOfWork { unit in
                try unit.query("SELECT title FROM relocation_boxes WHERE room IS NULL") { $0.text(0) }
            }
            #expect(titles == ["Kitchen"])
        }
        // Now this program is the older one.
        await #expect {
            try await JournalStore(journal)
        } throws: { error in
            .schemaMismatch ~= error && "\(error)".contains("have version 3, and this program knows versions up to 2")
        }
    }

    @Test("what somebody put into the tables that is no title or capacity is named by its row, and not shown")
    func edited() async throws {
        let folder = try TestFolder()
        let journal = try await open(folder)
        let store = try await JournalStore(journal)
        _ = try await store.perform(Ordering(OrderBox(label: "Kitchen", capacity: 10)))
        try await journal.unitOfWork {
            try $0.execute("UPDATE relocation_boxes SET title = 'sec' || char(10) || 'ret'")
        }
        await #expect {
            try await store.stock(after: Contents.Place(boxID: 0, itemID: 0), count: 10)
        } throws: { error in
            .internalFailure ~= error && "\(error)".contains("relocation_boxes, row 1") && !"\(error)".contains("sec")
        }
        try await journal.unitOfWork { try $0.execute("UPDATE relocation_boxes SET title = 'A', capacity = 7") }
        await #expect {
            try await store.perform(Distribution(DistributeItem(title: "x")))
        } throws: { error in
            .internalFailure ~= error && "\(error)".contains("row 1: 7 is no capacity")
        }
    }

    @Test("an item cannot be without its box, whoever writes")
    func foreignKey() async throws {
        let journal = try await open(try TestFolder())
        await #expect {
            try await journal.unitOfWork {
                try $0.execute("INSERT INTO relocation_items (id, title, box_id) VALUES (1, 'a', 9)")
            }
        } throws: {
            .conflict ~= $0
        }
    }

    @Test("the queries of a command use an index where they do not read the whole table anyway")
    func indexes() async throws {
        let journal = try await open(try TestFolder())
        let plans = try await journal.unitOfWork { unit in
            try [
                "SELECT id, title, box_id FROM relocation_items WHERE box_id = 1 ORDER BY id",
                "SELECT count(*) FROM relocation_items WHERE box_id = 1",
                "SELECT id, title, box_id FROM relocation_items WHERE id = 1",
                "SELECT id, title, capacity FROM relocation_boxes WHERE id > 1 ORDER BY id LIMIT 9",
                "SELECT id, title, box_id FROM relocation_items WHERE id > 1 ORDER BY id LIMIT 9",
                """
                SELECT id, capacity, item_count FROM relocation_boxes WHERE item_count < capacity AND id IS NOT 1
                ORDER BY item_count, id LIMIT 1
                """,
            ].map { try unit.query(SQL("EXPLAIN QUERY PLAN " + $0)) { $0.text(3) } }
        }
        #expect(plans.count == 6)
        for plan in plans.dropLast() { #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH"), "\(plan)") }
        // From the index's beginning, in its order: the first row that fits is the answer.
        #expect(plans.last == ["SCAN relocation_boxes USING INDEX relocation_boxes_with_room"])
    }
    @Test("of version 1 get the number of items of each box, and distribution goes on as before")
    func firstVersion() async throws {
        let folder = try TestFolder()
        var model = NaiveModel()
        do {
            let journal = try EventJournal(directory: folder.path, synchronous: .normal)
            try await journal.migrate(RelocationSchema.name, by: Array(RelocationSchema.migrations.prefix(1)))
            try await journal.unitOfWork { unit in
                for (id, capacity) in [(1, 20), (2, 5), (3, 5)] as [(Int64, Int64)] {
                    try unit.execute(
                        SQL("INSERT INTO relocation_boxes VALUES (?, 'Küche', ?)", [.integer(id), .integer(capacity)]))
                }
                // As the model distributes them.
                for id in Int64(1)...14 {
                    try unit.execute(
                        SQL(
                            "INSERT INTO relocation_items VALUES (?, 'Skis', ?)",
                            [.integer(id), .integer((id - 1) % 3 + 1)]))
                }
                try unit.execute("UPDATE relocation_ids SET last = CASE kind WHEN 'box' THEN 3 ELSE 14 END")
            }
            journal.close()
        }
        for capacity in [20, 5, 5] as [Int32] { _ = model.run(.order("Küche", capacity)) }
        for _ in 1...14 { _ = model.run(.distribute("Skis")) }

        let journal = try await open(folder)
        let commands = RelocationCommands(store: try await JournalStore(journal))
        #expect(try await Warehouse { try await commands.handle($0) } == model.contents)
        let requests: [NaiveModel.Request] =
            [.removeItem(2, 2), .removeItem(5, 2), .removeBox(3)] + Array(repeating: .distribute("Töpfe"), count: 16)
        for request in requests {
            let (expected, outcome) = (model.run(request), await request.run(on: commands))
            #expect(outcome == expected, "\(request)")
        }
        #expect(try await Warehouse { try await commands.handle($0) } == model.contents)
        let counts = try await journal.read { snapshot in
            try snapshot.query(
                """
                SELECT item_count, (SELECT count(*) FROM relocation_items WHERE box_id = b.id) FROM relocation_boxes b
                """
            ) { [$0.integer(0), $0.integer(1)] }
        }
        #expect(counts.allSatisfy { $0[0] == $0[1] } && counts.count == 2)
    }
}
