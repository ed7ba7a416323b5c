import Relocation
import RelocationDomain
import Testing

@Suite("Removing an item")
struct ItemRemovalTests {
    @Test("from the box that it is in removes it and publishes ItemRemoved")
    func removed() throws {
        var unit = try FakeUnit([(.small, 2), (.small, 1)])
        try ItemRemoval(RemoveItem(itemID: 2, boxID: 1)).perform(in: &unit)
        #expect(unit.storedItems.map(\.id) == [1, 3])
        let published = unit.published
        #expect(same(published, [ItemRemoved(itemID: 2)]))
    }

    @Test(
        "is refused, with nothing changed or published, if the item is unknown, the box is unknown, or it is elsewhere",
        arguments: [
            (9, 1, RemoveItem.Refusal.unknownItem), (9, 9, .unknownItem), (1, 9, .unknownBox), (1, 2, .notInBox),
            (.min, .max, .unknownItem), (1, .min, .unknownBox),
        ] as [(Int64, Int64, RemoveItem.Refusal)])
    func refused(itemID: Int64, boxID: Int64, failure: RemoveItem.Refusal) throws {
        var unit = try FakeUnit([(.small, 1), (.small, 1)])
        #expect(throws: failure) { try ItemRemoval(RemoveItem(itemID: itemID, boxID: boxID)).perform(in: &unit) }
        #expect(unit.storedItems.count == 2)
        #expect(unit.published.isEmpty)
    }
}
