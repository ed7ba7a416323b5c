import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
import RelocationDomain
import Synchronization
import TestSupport
import TestTraits
import Testing

/// A service of boxes on a journal, run by run.
private final class Storehouse: Sendable {
    static let name = "org.example.Storehouse"
    private let bus: PrivateBus
    private let folder: TestFolder
    private let running: Task<Void, any Error>
    private let journal: EventJournal
    let commands: RelocationCommands<JournalStore>
    /// While it is set, queries are refused.
    let isClosed = Atomic<Bool>(false)
    let queries = Atomic<Int>(0)

    init(_ bus: PrivateBus, _ folder: TestFolder) async throws {
        (self.bus, self.folder) = (bus, folder)
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        self.journal = journal
        let commands = RelocationCommands(store: try await JournalStore(journal))
        self.commands = commands
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Relocation1.self, journal: journal)
        service.handle(OrderBox.self) { command, _ in try await commands.handle(command) }
        service.handle(DistributeItem.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveBox.self) { command, _ in try await commands.handle(command) }
        service.handle(RemoveItem.self) { command, _ in try await commands.handle(command) }
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let start = Mutex<CheckedContinuation<Void, Never>?>(nil)
        running = Task {
            await withCheckedContinuation { continuation in start.withLock { $0 = continuation } }
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        service.handle(Contents.self) { [weak self] command, _ in
            self?.queries.add(1, ordering: .relaxed)
            if self?.isClosed.load(ordering: .relaxed) ?? true { throw RelayError(.limitsExceeded, "closed") }
            return try await commands.handle(command)
        }
        #expect(await eventually { start.withLock { $0 != nil } })
        start.withLock { $0 }?.resume()
        for await _ in ready {}
    }
    func stop() async throws {
        running.cancel()
        try await running.value
        journal.close()
    }
    func restarted() async throws -> Storehouse {
        try await stop()
        return try await Storehouse(bus, folder)
    }
    func relay() throws -> EventRelay {
        try EventRelay(following: Self.name, on: bus.bus, interfaces: Relocation1.self)
    }
}
/// A view model.
@MainActor private final class Shelf {
    nonisolated init() {}
    private(set) var inventory = FollowedContents()
    private(set) var snapshots = 0
    private(set) var events = 0
    private(set) var failures: [RelayError.Code] = []
    private var following: Subscription?

    func follow(_ relay: EventRelay, limit: UInt32?) throws {
        following = try relay.follow(Relocation1.self, pages: Contents(limit: limit)) { [weak self] pages in
            self?.inventory = FollowedContents(pages)
            self?.snapshots += 1
        } then: { [weak self] event, stamp in
            self?.inventory.apply(event.event, sequence: stamp.sequence)
            self?.events += 1
        } onFailure: { [weak self] error in
            self?.failures.append(error.code)
        }
    }
    func stop() { following = nil }
    var contents: Warehouse { Warehouse(inventory) }
}

@Suite("Following a state", .heavy, .tags(.g1, .g2, .g6))
struct StateFollowingTests {
    @Test(
        "pages and the events behind them are the service's state, through restarts", arguments: [1, 2, 3] as [UInt64])
    func follows(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var house = try await Storehouse(PrivateBus(), TestFolder())
        var model = NaiveModel()
        let relay = try house.relay()
        let shelf = Shelf()
        try await shelf.follow(relay, limit: 3)
        relay.activate()
        for round in 0..<4 {
            if round > 0 { house = try await house.restarted() }
            for _ in 0..<40 {
                let request = NaiveModel.Request.random(using: &random, boxes: model.lastBoxID, items: model.lastItemID)
                _ = model.run(request)
                _ = await request.run(on: house.commands)
            }
            let expected = model.contents
            #expect(await eventually { await shelf.contents == expected }, "seed \(seed), round \(round)")
        }
        #expect(await shelf.snapshots >= 1)
        // No further call after its end.
        await shelf.stop()
        let seen = await (shelf.snapshots, shelf.events)
        _ = try await house.commands.handle(OrderBox(label: "Late", capacity: 5))
        _ = try await relay.call(OrderBox(label: "Later", capacity: 5))
        #expect(await (shelf.snapshots, shelf.events) == seen)
        try await house.stop()
    }
    @Test("a query that fails is reported once, and sent again until it is answered")
    func failing() async throws {
        let house = try await Storehouse(PrivateBus(), TestFolder())
        house.isClosed.store(true, ordering: .relaxed)
        _ = try await house.commands.handle(OrderBox(label: "Attic", capacity: 5))
        let relay = try house.relay()
        let shelf = Shelf()
        try await shelf.follow(relay, limit: nil)
        relay.activate()
        #expect(await eventually { house.queries.load(ordering: .relaxed) >= 3 })
        #expect(await shelf.failures == [.limitsExceeded])
        #expect(await shelf.snapshots == 0)
        house.isClosed.store(false, ordering: .relaxed)
        #expect(await eventually { await shelf.inventory.boxes.count == 1 })
        relay.invalidate()
        try await house.stop()
    }
    @Test("a state of one reply, into closures on no actor; ends with the relay")
    func closures() async throws {
        let house = try await Storehouse(PrivateBus(), TestFolder())
        _ = try await house.commands.handle(OrderBox(label: "Attic", capacity: 5))
        let relay = try house.relay()
        let lines = Log<String>()
        let following = try relay.follow(Relocation1.self, asking: Contents()) { reply in
            lines.add("\(reply.boxes.map(\.title)) at \(reply.sequence)")
        } then: { event in
            if case .boxProvisioned(let box) = event { lines.add(box.title) }
        } onFailure: {
            lines.add($0.message)
        }
        relay.activate()
        #expect(await eventually { lines.count == 1 })
        _ = try await relay.call(OrderBox(label: "Cellar", capacity: 5))
        #expect(await eventually { lines.count == 2 })
        #expect(lines.values == ["[\"Attic\"] at 1", "Cellar"])
        relay.invalidate()
        #expect(await eventually { !following.isActive })
        try await house.stop()
    }
}
