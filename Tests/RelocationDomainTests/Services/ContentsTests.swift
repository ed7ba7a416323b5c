import Glibc
import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
@testable import RelocationDomain
import Synchronization
import TestSupport
import TestTraits
import Testing
import RelayWire

@Suite("Pages of what is in which box", .heavy, .tags(.g2))
struct ContentsTests {
    private static func reply(_ page: StockTaking, boxes: Int64, items: Int64, title text: String) throws
        -> Contents.Reply
    {
        let title = try title(text)
        let rest = (page.place.boxID..<max(page.place.boxID, boxes)).prefix(page.count)
            .map { Box(id: $0 + 1, title: title, capacity: .large) }
        let things = (page.place.itemID..<max(page.place.itemID, items)).prefix(page.count - rest.count)
            .map { Item(id: $0 + 1, title: title, boxID: 1) }
        return page.reply(Stock(epoch: 7, sequence: 9, boxes: rest, items: things))
    }

    @Test(
        "fit into a reply whatever the titles' length, and cover all ids once, in order",
        arguments: ["x", String(repeating: "🎹", count: 200)], [nil, 0, 1, 7, .max] as [UInt32?])
    func cover(title: String, limit: UInt32?) throws {
        for (boxes, items) in [(0, 0), (0, 5), (7, 0), (7, 7), (40, 60), (1, 5_000)] as [(Int64, Int64)] {
            if let limit, limit < 7, items > 100 { continue }
            var (inventory, pages) = (FollowedContents(), 0)
            var (boxIDs, itemIDs): ([Int64], [Int64]) = ([], [])
            let codec = try WireCodec(Contents.Reply.self)
            repeat {
                let page = StockTaking(Contents(after: inventory.next, limit: limit))
                let reply = try Self.reply(page, boxes: boxes, items: items, title: title)
                var writer = WireWriter()
                try codec.encode(reply, into: &writer)
                #expect(writer.count <= StockTaking.byteLimit + 128)
                #expect(reply.boxes.count + reply.items.count <= max(1, Int(limit ?? .max)))
                boxIDs += reply.boxes.map(\.boxID)
                itemIDs += reply.items.map(\.itemID)
                inventory.add(reply)
                pages += 1
                try #require(pages <= boxes + items + 1)
            } while !inventory.isWhole
            #expect(boxIDs == (1...max(1, boxes)).prefix(Int(boxes)).map { $0 })
            #expect(itemIDs == (1...max(1, items)).prefix(Int(items)).map { $0 })
            #expect(inventory.boxes.count == Int(boxes) && inventory.items.count == Int(items))
        }
    }

    @Test(
        "and the events of the meantime make the present state, however both are mixed",
        arguments: 1...40 as ClosedRange<UInt64>)
    func joined(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let store = try await TestedStore(seed.isMultiple(of: 10) ? .journal : .memory)
        let commands = RelocationCommands(store: store)
        var model = NaiveModel()
        func step() async {
            let request = NaiveModel.Request.random(using: &random, boxes: model.lastBoxID, items: model.lastItemID)
            _ = model.run(request)
            _ = await request.run(on: commands)
        }
        for _ in 0..<Int.random(in: 0...120, using: &random) { await step() }

        // With room for few events, pages are asked for again.
        let limit = seed.isMultiple(of: 2) ? Int.random(in: 1...6, using: &random) : 1_000
        var (inventory, first, taken): (FollowedContents, Int, Int) = (FollowedContents(limit: limit), 0, 0)
        while !inventory.isWhole {
            let page = try await commands.handle(
                Contents(after: inventory.next, limit: UInt32.random(in: 1...12, using: &random)))
            if first == 0 { (first, taken) = (Int(page.sequence), Int(page.sequence)) }
            #expect(page.sequence == UInt64(store.events.count))
            for _ in 0..<Int.random(in: 0...8, using: &random) { await step() }
            // Some of the events come before the page that has seen them, or has not.
            let events = store.events
            let end = Int.random(in: taken...events.count, using: &random)
            for index in taken..<end { inventory.apply(events[index], sequence: UInt64(index + 1)) }
            taken = end
            #expect(inventory.waiting <= limit)
            inventory.add(page)
        }
        for _ in 0..<20 { await step() }
        for (index, event) in store.events.enumerated().dropFirst(taken) {
            inventory.apply(event, sequence: UInt64(index + 1))
        }
        #expect(Warehouse(inventory) == model.contents, "seed \(seed)")
    }

    @Test("G3: events that wait for their page are bounded, and a page that has not seen the dropped ones is refused")
    func bounded() {
        var inventory = FollowedContents(limit: 100)
        func page(_ sequence: UInt64, boxes: ClosedRange<Int64>, isLast: Bool = false) -> Contents.Reply {
            Contents.Reply(
                epoch: 1, sequence: sequence,
                boxes: boxes.map { Contents.Box(boxID: $0, capacity: 5, title: "Box") }, items: [],
                next: isLast ? nil : Contents.Place(boxID: boxes.upperBound, itemID: 0))
        }
        inventory.add(page(10, boxes: 1...10))
        for id: Int64 in 1...10_000 {
            inventory.apply(BoxRemoved(boxID: id), sequence: UInt64(id) + 10)
            #expect(inventory.waiting <= 100)
        }
        #expect(inventory.boxes.isEmpty)
        let place = inventory.next
        var isAdded = inventory.add(page(9_000, boxes: 11...9_500))
        #expect(!isAdded && inventory.next == place && inventory.boxes.isEmpty)
        isAdded = inventory.add(page(10_010, boxes: 10_001...10_005, isLast: true))
        #expect(isAdded)
        #expect(inventory.isWhole && inventory.waiting == 0)
        #expect(inventory.boxes.keys.sorted() == Array(10_001...10_005))
    }

    /// Lets a unit of work wait for what happens beside it.
    private final class Meeting: Sendable {
        private let state = Mutex((hasBegun: false, isOver: false))
        var hasBegun: Bool { state.withLock { $0.hasBegun } }
        var isOver: Bool { state.withLock { $0.isOver } }
        func begin() { state.withLock { $0.hasBegun = true } }
        func end() { state.withLock { $0.isOver = true } }
    }

    @Test("are read beside a unit of work that goes on, and see nothing of it")
    func besideUnits() async throws {
        let folder = try TestFolder()
        // Nobody leads: what waits is the journal's own thread, and not one of the pool.
        let journal = try EventJournal(directory: folder.path, faults: JournalFaults(), permit: nil)
        let commands = RelocationCommands(store: try await JournalStore(journal))
        try TestedStore.open(journal, EventLog())
        _ = try await commands.handle(OrderBox(label: "Attic", capacity: 5))
        let meeting = Meeting()
        async let unit: Void = journal.unitOfWork { unit in
            _ = try unit.addBox(title: try title("Cellar"), capacity: .small)
            meeting.begin()
            // Commits nothing before the page is there.
            while !meeting.isOver { usleep(1_000) }
        }
        #expect(await eventually { meeting.hasBegun })
        let reply = try await commands.handle(Contents())
        meeting.end()
        try await unit
        #expect(reply.boxes.map(\.title) == ["Attic"] && reply.sequence == 1)
        #expect(try await commands.handle(Contents()).boxes.count == 2)
    }
}
