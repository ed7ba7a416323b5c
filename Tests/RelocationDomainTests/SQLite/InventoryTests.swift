import RelayCore
import RelayJournal
import RelayTestKit
import Relocation
@testable import RelocationDomain
import TestTraits
import Testing

@Suite("The inventory, as a document", .heavy, .tags(.g5)) struct InventoryTests {
    private let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// A service without a bus, as `relay-service` composes it.
    private func open() async throws -> (
        commands: RelocationCommands<JournalStore>, inventory: ServiceDocument<Inventory>, journal: EventJournal
    ) {
        let journal = try EventJournal(directory: folder.path, synchronous: .normal)
        let store = try await JournalStore(journal, keepsInventory: true)
        let service = try EventService(
            name: "org.example.Moves", on: TestHarness().bus, exporting: Relocation1.self, Inventory1.self,
            journal: journal)
        try await store.refreshInventory()
        return (RelocationCommands(store: store), try service.document(Inventory.self), journal)
    }
    private func load(_ id: Int64, _ count: Int32, of capacity: Int32 = 5) -> Inventory.Load {
        Inventory.Load(boxID: id, capacity: capacity, itemCount: count, title: "box \(id)")
    }

    @Test("it is what the boxes hold after each command; a refused one changes nothing") func followed() async throws {
        let (commands, inventory, journal) = try await open()
        #expect(inventory.state == .initial && inventory.version.sequence == 0)
        for id in 1...2 { _ = try await commands.handle(OrderBox(label: "box \(id)", capacity: 5)) }
        #expect(inventory.state == Inventory(boxes: [load(1, 0), load(2, 0)], isWhole: true))
        for number in 1...3 { _ = try await commands.handle(DistributeItem(title: "item \(number)")) }
        #expect(inventory.state.boxes == [load(1, 2), load(2, 1)])
        let version = inventory.version
        await #expect(throws: RemoveBox.Refusal.self) { try await commands.handle(RemoveBox(boxID: 9)) }
        #expect(inventory.version == version)
        try await commands.handle(RemoveBox(boxID: 1))
        #expect(inventory.state.boxes == [load(2, 3)])
        #expect(inventory.version.sequence == version.sequence + 1, "one entry for one command")
        journal.close()
    }
    @Test("it has the boxes with the lowest ids, and says that there are more; commands go on") func bounded()
        async throws
    {
        let (commands, inventory, journal) = try await open()
        let title = String(repeating: "\u{1F4E6}", count: Title.maximumLength)
        for _ in 0..<Inventory.longest { _ = try await commands.handle(OrderBox(label: title, capacity: 20)) }
        #expect(inventory.state.boxes.count == Inventory.longest && inventory.state.isWhole)
        _ = try await commands.handle(OrderBox(label: title, capacity: 20))
        #expect(inventory.state.boxes.map(\.boxID) == Array(1...Int64(Inventory.longest)) && !inventory.state.isWhole)
        let version = inventory.version
        _ = try await commands.handle(OrderBox(label: title, capacity: 20))
        #expect(inventory.version == version, "what it does not have does not change it")
        try await commands.handle(RemoveBox(boxID: 1))
        #expect(inventory.state.boxes.last?.boxID == Int64(Inventory.longest) + 1)
        journal.close()
    }
    @Test("boxes that changed while no inventory was kept are in it when the service starts") func refreshed()
        async throws
    {
        do {
            let journal = try EventJournal(directory: folder.path, synchronous: .normal)
            let store = try await JournalStore(journal)
            let service = try EventService(
                name: "org.example.Moves", on: TestHarness().bus, exporting: Relocation1.self, journal: journal)
            _ = try await RelocationCommands(store: store).handle(OrderBox(label: "box 1", capacity: 5))
            withExtendedLifetime(service) { journal.close() }
        }
        let (_, inventory, journal) = try await open()
        #expect(inventory.state.boxes == [load(1, 0)] && inventory.version.sequence == 1)
        journal.close()
        let (_, again, next) = try await open()
        #expect(again.state.boxes == [load(1, 0)] && again.version.sequence == 1, "an equal state is no entry")
        next.close()
    }
}
