import RelayCore
import RelayJournal
import RelayTestKit
import TestTraits
import Testing

@Suite("Doubles take the place of units of work, publishers and services") struct DoublesTests {
    private struct OutOfStock: Error {}
    private struct Shelf: DomainDocument, Equatable {
        typealias Interface = Orders1
        var boxes: Int32
        static let initial = Self(boxes: 0)
    }
    private let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// Domain code as users write it.
    private static func ship(_ number: Int64, in unit: inout some EventSink & ~Copyable) throws {
        try unit.publish(OrderPlaced(number: number, goods: ["bread"]))
        if number < 0 { throw OutOfStock() }
        try unit.publish(OrderShipped(number: number))
    }

    @Test("a sink records what domain code publishes and sets, and refuses when it is told to")
    func sinks() throws {
        var sink = RecordingSink()
        try Self.ship(1, in: &sink)
        try sink.set(Shelf(boxes: 3))
        #expect(sink.events.count == 2 && sink.events(of: OrderShipped.self) == [OrderShipped(number: 1)])
        #expect(sink.documents.map { $0 as? Shelf } == [Shelf(boxes: 3)])
        sink.refuse(with: OutOfStock())
        #expect(throws: OutOfStock.self) { try Self.ship(2, in: &sink) }
        #expect(throws: OutOfStock.self) { try sink.set(Shelf.initial) }
        #expect(sink.events.count == 2 && sink.documents.count == 1)
    }
    @Test("a unit of work is recorded whole behind its end, or not at all")
    func unitOfWork() throws {
        let sink = RecordingSink()
        try sink.unitOfWork { unit in
            try Self.ship(1, in: &unit)
            try unit.set(Shelf(boxes: 2))
            #expect(sink.events.isEmpty && sink.documents.isEmpty)
        }
        #expect(sink.events.count == 2 && sink.documents.count == 1)
        #expect(throws: OutOfStock.self) { try sink.unitOfWork { try Self.ship(-1, in: &$0) } }
        #expect(sink.events.count == 2)
    }
    @Test("a journal's events can be published and read without a service", .tags(.g5))
    func journal() async throws {
        let journal = try EventJournal(directory: folder.path)
        let start = Timestamp(microseconds: 1_000_000)
        let standIn = try await JournalStandIn(for: journal, exporting: Orders1.self, startingAt: start)
        #expect(try await standIn.deliveries(in: Orders1.self).isEmpty)
        for number in [1, -2, 3] as [Int64] {
            try? await journal.unitOfWork { try Self.ship(number, in: &$0) }
        }
        #expect(try await standIn.events(of: OrderShipped.self).map(\.number) == [1, 3])
        let stamps = try await standIn.deliveries(in: Orders1.self).compactMap { delivery -> Stamp? in
            if case .event(_, let stamp) = delivery { stamp } else { nil }
        }
        #expect(stamps.map(\.sequence) == [1, 2, 3, 4] && stamps.map(\.previous) == [0, 0, 1, 2])
        #expect(Set(stamps.map(\.publishedAt)) == [start])
        await #expect(throws: RelayError.self) { try await JournalStandIn(for: journal, exporting: Orders1.self) }
        journal.close()
    }
    @Test("a journal of more than a page is read whole")
    func longJournal() async throws {
        let log = MemoryLog()
        let service = try EventService(name: Shop.name, exporting: Orders1.self, journal: log)
        let goods = [String(repeating: "x", count: 1_000)]
        try await service.publish(contentsOf: (1...2_000).map { OrderPlaced(number: $0, goods: goods) })
        let standIn = try await JournalStandIn(for: log.reopened(), exporting: Orders1.self)
        #expect(try await standIn.events(of: OrderPlaced.self).map(\.number) == Array(1...2_000))
    }
    @Test("a recorder is an interest in every event of its interface, and records gaps in their places")
    func recorder() async throws {
        let publisher = EventPublisher()
        let recorder = EventRecorder(publisher, of: Orders1.self)
        publisher.publish(OrderShipped(number: 1))
        publisher.deliver(gap: Gap(4...6, epoch: 9, count: nil, reason: .expired), in: Orders1.self)
        publisher.publish(OrderPlaced(number: 2, goods: []))
        publisher.deliver(gap: Gap(8...8, epoch: 9, count: 1, reason: .lost), to: OrderShipped.self)
        let kinds = recorder.deliveries.map { delivery in
            switch delivery {
            case .event(let event, _): "\(event)"
            case .gap(let gap): text(gap)
            }
        }
        #expect(
            kinds == [
                "OrderShipped(number: 1)", "gap 4...6 (?, expired)", "OrderPlaced(number: 2, goods: [])",
                "gap 8...8 (1, lost)",
            ])
        recorder.removeAll()
        #expect(recorder.deliveries.isEmpty)
    }
    @Test("handlers can be called as functions")
    func contexts() async {
        let context = CommandContext(peer: Peer(userID: 1_000))
        #expect(context.peer == Peer(uniqueName: ":1.1", userID: 1_000))
    }
}
