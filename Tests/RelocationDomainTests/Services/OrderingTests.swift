import Relocation
import RelocationDomain
import Testing

@Suite("Ordering a box")
struct OrderingTests {
    @Test("of 5, 10 or 20 adds it under a new id and publishes BoxProvisioned", arguments: BoxCapacity.allCases)
    func ordered(capacity: BoxCapacity) throws {
        var unit = try FakeUnit([(.small, 0)])
        let box = try Ordering(OrderBox(label: "Kitchen", capacity: capacity.rawValue)).perform(in: &unit)
        #expect(box == Box(id: 2, title: try title("Kitchen"), capacity: capacity))
        #expect(unit.boxes().map(\.id) == [1, 2])
        let published = unit.published
        #expect(same(published, [BoxProvisioned(boxID: 2, capacity: capacity.rawValue, title: "Kitchen")]))
    }

    @Test("of any other capacity is refused, with nothing added or published")
    func invalidCapacity() throws {
        for capacity in Array(-25...25) + [Int32.min, Int32.max] where ![5, 10, 20].contains(capacity) {
            var unit = try FakeUnit()
            #expect(throws: OrderBox.Refusal.invalidCapacity) {
                try Ordering(OrderBox(label: "Kitchen", capacity: capacity)).perform(in: &unit)
            }
            #expect(unit.boxes().isEmpty)
            #expect(unit.published.isEmpty)
        }
    }

    @Test("with a label that is no title is refused, with nothing added or published")
    func invalidLabel() throws {
        var unit = try FakeUnit()
        #expect(throws: OrderBox.Refusal.invalidLabel) {
            try Ordering(OrderBox(label: " ", capacity: 5)).perform(in: &unit)
        }
        #expect(unit.boxes().isEmpty)
        #expect(unit.published.isEmpty)
    }
}
