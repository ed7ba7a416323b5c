import RelayCore
import RelayJournal
import RelayTestKit
import Testing

// docs/TESTING.md shows parts of this file.

/// What the service does, and the window that shows it: the code under test. It knows no harness.
struct OrderDesk: Sendable {
    let journal: EventJournal

    func place(_ order: PlaceOrder, _ context: CommandContext) async throws -> PlaceOrder.Reply {
        guard !order.goods.isEmpty else { throw PlaceOrder.Refusal.nothingOrdered }
        return try await journal.unitOfWork { unit in
            let goods = order.goods.joined(separator: ",")
            let number = try unit.query(
                "INSERT INTO orders (goods) VALUES (\(goods)) RETURNING id", as: Int64.self)[0]
            try unit.publish(OrderPlaced(number: number, goods: order.goods))
            return PlaceOrder.Reply(number: number)
        }
    }
}
@MainActor final class OrderWindow {
    private(set) var rows: [String] = []
    private var subscription: Subscription?

    init(_ publisher: EventPublisher) {
        subscription = publisher.subscribe(to: OrderPlaced.self) { [weak self] order in
            self?.rows.append("#\(order.number): \(order.goods.joined(separator: ", "))")
        } onGap: { [weak self] gap in
            self?.rows.append("missing: \(gap.sequences)")
        }
    }
}
enum Announcing {
    static func ship(_ number: Int64, in unit: inout some EventSink & ~Copyable) throws {
        try unit.publish(OrderShipped(number: number))
    }
}

@Suite("What the page on testing shows") struct ExampleTests {
    private let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func journal() async throws -> EventJournal {
        let journal = try EventJournal(directory: folder.path)
        try await journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, goods TEXT NOT NULL)")
        }
        return journal
    }

    @Test("an order that is placed shows up in the window")
    @MainActor func order() async throws {
        let desk = OrderDesk(journal: try await journal())
        let harness = TestHarness()
        let service = try EventService(
            name: "org.example.Shop", on: harness.bus, exporting: Orders1.self, journal: desk.journal)
        service.handle(PlaceOrder.self, with: desk.place)
        service.handle(Ponder.self) { _, _ in }
        try await harness.start(service)

        let relay = try EventRelay(following: "org.example.Shop", on: harness.bus, interfaces: Orders1.self)
        let window = OrderWindow(relay.publisher)
        relay.activate()
        let reply = try await relay.call(PlaceOrder(goods: ["bread", "salt"]))
        #expect(reply.number == 1)
        try await harness.settle()
        #expect(window.rows == ["#1: bread, salt"])
    }
    @Test("an order without goods changes nothing, and nobody hears of it")
    func refusal() async throws {
        let desk = OrderDesk(journal: try await journal())
        let standIn = try await JournalStandIn(for: desk.journal, exporting: Orders1.self)
        let context = CommandContext(peer: Peer(userID: 1000))
        await #expect(throws: PlaceOrder.Refusal.nothingOrdered) {
            try await desk.place(PlaceOrder(goods: []), context)
        }
        _ = try await desk.place(PlaceOrder(goods: ["oil"]), context)
        #expect(try await standIn.events(of: OrderPlaced.self) == [OrderPlaced(number: 1, goods: ["oil"])])
    }
    @Test("the window shows what is missing")
    @MainActor func gap() async throws {
        let publisher = EventPublisher()
        let window = OrderWindow(publisher)
        publisher.deliver(gap: Gap(4...6, epoch: 1, count: nil, reason: .expired), in: Orders1.self)
        #expect(await eventually { window.rows == ["missing: 4...6"] })
    }
    @Test("what is shipped is announced")
    func unit() throws {
        var sink = RecordingSink()
        try Announcing.ship(7, in: &sink)
        #expect(sink.events(of: OrderShipped.self) == [OrderShipped(number: 7)])
    }
    @Test("a call that is not answered in time fails")
    func timeout() async throws {
        let harness = TestHarness()
        let service = try EventService(
            name: "org.example.Shop", on: harness.bus, exporting: Orders1.self, journal: MemoryLog())
        service.handle(PlaceOrder.self) { _, _ in PlaceOrder.Reply(number: 1) }
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        service.handle(Ponder.self) { _, _ in for await _ in answers { break } }
        try await harness.start(service)
        let relay = try EventRelay(following: "org.example.Shop", on: harness.bus, interfaces: Orders1.self)
        relay.activate()
        let call = Task { try await relay.call(Ponder(), timeout: .seconds(5)) }
        // Its timeout begins when it is sent: time must not pass before.
        #expect(await eventually { await harness.isCalling })
        try await harness.advance(by: .seconds(5))
        await #expect(throws: RelayError.self) { try await call.value }
        answer.finish()
    }
}
