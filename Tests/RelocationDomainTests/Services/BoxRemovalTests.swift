import Relocation
@testable import RelocationDomain
import TestTraits
import Testing

@Suite("Removing a box", .computing)
struct BoxRemovalTests {
    @Test("moves each item to where it would be distributed, then removes the box, with an event each")
    func redistributes() throws {
        // Items 1, 2 and 3 are in box 1; 4 and 5 in box 2; none in box 3.
        var unit = try FakeUnit([(.medium, 3), (.small, 2), (.small, 0)])
        try BoxRemoval(RemoveBox(boxID: 1)).perform(in: &unit)
        #expect(unit.boxes().map(\.id) == [2, 3])
        let published = unit.published
        let expected: [any RelocationEvent] = [
            ItemMoved(itemID: 1, fromBoxID: 1, toBoxID: 3), ItemMoved(itemID: 2, fromBoxID: 1, toBoxID: 3),
            ItemMoved(itemID: 3, fromBoxID: 1, toBoxID: 2), BoxRemoved(boxID: 1),
        ]
        #expect(same(published, expected))
        #expect(unit.storedItems.map(\.boxID) == [3, 3, 2, 2, 2])
    }

    @Test("succeeds, in all warehouses of up to three boxes, if and only if the others have room for all of its items")
    func exhaustive() throws {
        for warehouse in DistributionTests.allWarehouses() where !warehouse.isEmpty {
            let others = warehouse.dropFirst().enumerated().map { index, box in
                BoxLoad(boxID: Int64(index + 2), capacity: box.capacity, itemCount: box.items)
            }
            let room = others.reduce(0) { $0 + $1.room }
            let places = BoxRemoval.places(for: warehouse[0].items, in: others)
            // The least loaded ones suffice, as many as there are items.
            let few = others.filter { $0.room > 0 }.sorted { ($0.itemCount, $0.boxID) < ($1.itemCount, $1.boxID) }
            let same = BoxRemoval.places(for: warehouse[0].items, in: Array(few.prefix(warehouse[0].items)))
            if same != places { Issue.record("\(warehouse): \(same as Any) of few, \(places as Any) of all") }
            guard let places else {
                if room >= warehouse[0].items { Issue.record("\(warehouse): refused, with room for \(room)") }
                continue
            }
            let overfull = others.contains { box in places.count { $0 == box.boxID } > box.room }
            if room < warehouse[0].items || places.count != warehouse[0].items || overfull {
                Issue.record("\(warehouse): went to \(places)")
            }
        }
    }

    @Test("that is empty needs no other box")
    func empty() throws {
        var unit = try FakeUnit([(.small, 0)])
        try BoxRemoval(RemoveBox(boxID: 1)).perform(in: &unit)
        #expect(unit.boxes().isEmpty)
        let published = unit.published
        #expect(same(published, [BoxRemoved(boxID: 1)]))
    }

    @Test("is refused before anything is moved if one item too many has no place elsewhere")
    func noRoomElsewhere() throws {
        var unit = try FakeUnit([(.small, 3), (.small, 4), (.small, 4)])
        let before = unit.storedItems
        #expect(throws: RemoveBox.Refusal.noRoomElsewhere) {
            try BoxRemoval(RemoveBox(boxID: 1)).perform(in: &unit)
        }
        #expect(unit.storedItems == before)
        #expect(unit.boxes().count == 3)
        #expect(unit.published.isEmpty)
    }

    @Test("is refused if it is unknown", arguments: [0, 2, -1, Int64.min, Int64.max])
    func unknown(boxID: Int64) throws {
        var unit = try FakeUnit([(.small, 1)])
        #expect(throws: RemoveBox.Refusal.unknownBox) {
            try BoxRemoval(RemoveBox(boxID: boxID)).perform(in: &unit)
        }
        #expect(unit.boxes().count == 1)
        #expect(unit.published.isEmpty)
    }
}
