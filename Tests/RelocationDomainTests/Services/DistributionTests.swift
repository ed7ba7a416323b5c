import Relocation
import RelocationDomain
import TestTraits
import Testing

@Suite("Distributing an item", .computing)
struct DistributionTests {
    /// Every warehouse of up to three boxes, of all capacities, at every load.
    static func allWarehouses() -> [[(capacity: BoxCapacity, items: Int)]] {
        let loads = BoxCapacity.allCases.flatMap { capacity in (0...capacity.itemCount).map { (capacity, $0) } }
        var all: [[(capacity: BoxCapacity, items: Int)]] = [[]]
        var longest = all
        for _ in 1...3 {
            longest = longest.flatMap { boxes in loads.map { boxes + [$0] } }
            all += longest
        }
        return all
    }

    @Test(
        "chooses, of all warehouses of up to three boxes, the box with room that has the fewest items, of several the first"
    )
    func exhaustive() {
        for warehouse in Self.allWarehouses() {
            let loads = warehouse.enumerated().map { index, box in
                BoxLoad(boxID: Int64(index + 1), capacity: box.capacity, itemCount: box.items)
            }
            // The rule in other words: go through the boxes, and change one's mind for strictly fewer items only.
            var expected: Int?
            for (index, box) in warehouse.enumerated() where box.items < box.capacity.itemCount {
                if let best = expected, warehouse[best].items <= box.items { continue }
                expected = index
            }
            let chosen = Distribution.leastLoaded(of: loads)
            if chosen != expected { Issue.record("\(warehouse): chose \(chosen as Int?), not \(expected as Int?)") }
        }
    }

    @Test("goes by the lowest id among equals, in whatever order the boxes come")
    func tieBreak() {
        let loads = [9, 4, 7].map { BoxLoad(boxID: $0, capacity: .small, itemCount: 2) }
        #expect(Distribution.leastLoaded(of: loads) == 1)
    }

    @Test("puts it into the chosen box under a new id and publishes ItemProvisioned")
    func distributed() throws {
        var unit = try FakeUnit([(.large, 3), (.small, 1), (.medium, 1)])
        let item = try Distribution(DistributeItem(title: "Kettle")).perform(in: &unit)
        #expect(item == Item(id: 6, title: try title("Kettle"), boxID: 2))
        #expect(unit.item(6) == item)
        let published = unit.published
        #expect(same(published, [ItemProvisioned(itemID: 6, boxID: 2, title: "Kettle")]))
    }

    @Test("is refused when every box is full, with nothing added or published", arguments: [0, 1, 2, 3])
    func noRoom(boxes: Int) throws {
        var unit = try FakeUnit(BoxCapacity.allCases.prefix(boxes).map { ($0, $0.itemCount) })
        let before = unit.storedItems
        #expect(throws: DistributeItem.Refusal.noRoom) {
            try Distribution(DistributeItem(title: "Kettle")).perform(in: &unit)
        }
        #expect(unit.storedItems == before)
        #expect(unit.published.isEmpty)
    }

    @Test("with a title that is none is refused, with nothing added or published")
    func invalidTitle() throws {
        var unit = try FakeUnit([(.small, 0)])
        #expect(throws: DistributeItem.Refusal.invalidTitle) {
            try Distribution(DistributeItem(title: "a\nb")).perform(in: &unit)
        }
        #expect(unit.storedItems.isEmpty)
        #expect(unit.published.isEmpty)
    }

    @Test("finds no room in a box that a store reports as over-full or with a negative count")
    func absurdLoads() {
        #expect(BoxLoad(boxID: 1, capacity: .small, itemCount: .max).room == 0)
        #expect(BoxLoad(boxID: 1, capacity: .small, itemCount: .min).room == 5)
    }
}
