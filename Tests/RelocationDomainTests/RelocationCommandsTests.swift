import RelayCore
import Relocation
import RelocationDomain
import TestTraits
import Testing

@Suite("Commands, as the service handles them", .tags(.g5))
struct RelocationCommandsTests {
    let store: TestedStore
    let commands: RelocationCommands<TestedStore>

    init() async throws {
        store = try await TestedStore(.journal)
        commands = RelocationCommands(store: store)
    }

    @Test("reply with the new ids, and Contents shows boxes and items by rising id")
    func replies() async throws {
        #expect(try await commands.handle(OrderBox(label: "Kitchen", capacity: 10)) == .init(boxID: 1))
        #expect(try await commands.handle(OrderBox(label: "Attic", capacity: 5)) == .init(boxID: 2))
        #expect(try await commands.handle(DistributeItem(title: "Kettle")) == .init(itemID: 1, boxID: 1))
        #expect(try await commands.handle(DistributeItem(title: "Skis")) == .init(itemID: 2, boxID: 2))
        #expect(try await commands.handle(DistributeItem(title: "Pan")) == .init(itemID: 3, boxID: 1))
        try await commands.handle(RemoveItem(itemID: 3, boxID: 1))
        let expected = Contents.Reply(
            epoch: 1, sequence: 6,
            boxes: [
                .init(boxID: 1, capacity: 10, title: "Kitchen"), .init(boxID: 2, capacity: 5, title: "Attic"),
            ],
            items: [.init(itemID: 1, boxID: 1, title: "Kettle"), .init(itemID: 2, boxID: 2, title: "Skis")], next: nil)
        #expect(try await commands.handle(Contents()) == expected)
        try await commands.handle(RemoveBox(boxID: 1))
        #expect(try await commands.handle(Contents()).items.map(\.boxID) == [2, 2])
        let events: [any RelocationEvent] = [
            BoxProvisioned(boxID: 1, capacity: 10, title: "Kitchen"),
            BoxProvisioned(boxID: 2, capacity: 5, title: "Attic"),
            ItemProvisioned(itemID: 1, boxID: 1, title: "Kettle"), ItemProvisioned(itemID: 2, boxID: 2, title: "Skis"),
            ItemProvisioned(itemID: 3, boxID: 1, title: "Pan"), ItemRemoved(itemID: 3),
            ItemMoved(itemID: 1, fromBoxID: 1, toBoxID: 2), BoxRemoved(boxID: 1),
        ]
        #expect(same(store.events, events))
    }

    /// Runs a command that must be refused on a full box, and gives what was emitted after the state was found unchanged.
    private func refusal<F: Error & Equatable>(
        _ failure: F, of command: @Sendable (RelocationCommands<TestedStore>) async throws -> Void
    ) async throws -> [any RelocationEvent] {
        _ = try await commands.handle(OrderBox(label: "full", capacity: 5))
        for index in 1...5 { _ = try await commands.handle(DistributeItem(title: "item \(index)")) }
        let (before, count) = (try await store.contents, store.events.count)
        await #expect(throws: failure) { try await command(commands) }
        #expect(try await store.contents == before)
        return Array(store.events.dropFirst(count))
    }

    @Test("DistributeItem without room emits ItemDistributionFailed")
    func noRoom() async throws {
        let events = try await refusal(DistributeItem.Refusal.noRoom) {
            _ = try await $0.handle(DistributeItem(title: "x"))
        }
        #expect(same(events, [ItemDistributionFailed(itemTitle: "x")]))
    }

    @Test("DistributeItem with an invalid title emits nothing")
    func invalidTitle() async throws {
        let events = try await refusal(DistributeItem.Refusal.invalidTitle) {
            _ = try await $0.handle(DistributeItem(title: "a\0b"))
        }
        #expect(events.isEmpty)
    }

    @Test("OrderBox refused emits nothing")
    func invalidOrder() async throws {
        var events = try await refusal(OrderBox.Refusal.invalidCapacity) {
            _ = try await $0.handle(OrderBox(label: "x", capacity: 7))
        }
        #expect(events.isEmpty)
        events = try await refusal(OrderBox.Refusal.invalidLabel) {
            _ = try await $0.handle(OrderBox(label: "", capacity: 5))
        }
        #expect(events.isEmpty)
    }

    @Test("RemoveBox of an unknown box emits BoxRemovalFailed")
    func unknownBox() async throws {
        let events = try await refusal(RemoveBox.Refusal.unknownBox) { try await $0.handle(RemoveBox(boxID: 9)) }
        #expect(
            same(events, [BoxRemovalFailed(boxID: 9, reason: "there is no box 9; Contents lists those that there are")])
        )
    }

    @Test("RemoveBox without room elsewhere emits BoxItemsRedistributionFailed, then BoxRemovalFailed")
    func noRoomElsewhere() async throws {
        let events = try await refusal(RemoveBox.Refusal.noRoomElsewhere) { try await $0.handle(RemoveBox(boxID: 1)) }
        let reason = "the other boxes lack room for the items of box 1; order a box or remove items first"
        #expect(same(events, [BoxItemsRedistributionFailed(boxID: 1), BoxRemovalFailed(boxID: 1, reason: reason)]))
    }

    @Test("RemoveItem refused emits ItemRemovalFailed, whatever the reason")
    func itemRemoval() async throws {
        for (itemID, boxID, failure) in [(9, 1, .unknownItem), (1, 9, .unknownBox)]
            as [(Int64, Int64, RemoveItem.Refusal)]
        {
            let events = try await refusal(failure) { try await $0.handle(RemoveItem(itemID: itemID, boxID: boxID)) }
            #expect(same(events, [ItemRemovalFailed(itemID: itemID, boxID: boxID)]))
        }
        let events = try await refusal(RemoveItem.Refusal.notInBox) {
            try await $0.handle(RemoveItem(itemID: 1, boxID: 2))
        }
        #expect(same(events, [ItemRemovalFailed(itemID: 1, boxID: 2)]))
    }
}
