import RelayCore
import Relocation
import RelocationDomain

/// A unit of work that shares nothing with the memory store: linear searches over plain arrays, and a log of what was published.
struct FakeUnit: ~Copyable, BoxRepository, ItemRepository, EventSink {
    struct Broken: Error {}
    var storedBoxes: [Box] = []
    var storedItems: [Item] = []
    var published: [any RelocationEvent] = []
    /// Publishing throws from this number of events on.
    var publishLimit = Int.max
    private var lastBoxID: Int64 = 0
    private var lastItemID: Int64 = 0

    /// Boxes of these capacities under the ids 1, 2, …, each with that many items, whose ids are given in turn.
    init(_ boxes: [(capacity: BoxCapacity, items: Int)] = []) throws {
        for (capacity, _) in boxes { _ = addBox(title: try title("box"), capacity: capacity) }
        for (index, (_, items)) in boxes.enumerated() {
            for _ in 0..<items { _ = addItem(title: try title("item"), boxID: Int64(index + 1)) }
        }
    }

    mutating func addBox(title: Title, capacity: BoxCapacity) -> Box {
        lastBoxID += 1
        let box = Box(id: lastBoxID, title: title, capacity: capacity)
        storedBoxes.append(box)
        return box
    }
    func box(_ id: Int64) -> Box? { storedBoxes.first { $0.id == id } }
    func boxes() -> [Box] { storedBoxes }
    func leastLoaded(_ count: Int, except boxID: Int64?) -> [BoxLoad] {
        storedBoxes.filter { $0.id != boxID }
            .map { BoxLoad(boxID: $0.id, capacity: $0.capacity, itemCount: items(inBox: $0.id).count) }
            .filter { $0.room > 0 }.sorted { ($0.itemCount, $0.boxID) < ($1.itemCount, $1.boxID) }
            .prefix(count).map { $0 }
    }
    mutating func removeBox(_ id: Int64) throws {
        guard box(id) != nil, items(inBox: id).isEmpty else { throw Broken() }
        storedBoxes.removeAll { $0.id == id }
    }
    mutating func addItem(title: Title, boxID: Int64) -> Item {
        lastItemID += 1
        let item = Item(id: lastItemID, title: title, boxID: boxID)
        storedItems.append(item)
        return item
    }
    func item(_ id: Int64) -> Item? { storedItems.first { $0.id == id } }
    func items(inBox boxID: Int64) -> [Item] { storedItems.filter { $0.boxID == boxID } }
    mutating func moveItem(_ id: Int64, toBox boxID: Int64) throws {
        guard let index = storedItems.firstIndex(where: { $0.id == id }), box(boxID) != nil else { throw Broken() }
        storedItems[index] = Item(id: id, title: storedItems[index].title, boxID: boxID)
    }
    mutating func removeItem(_ id: Int64) throws {
        guard item(id) != nil else { throw Broken() }
        storedItems.removeAll { $0.id == id }
    }
    mutating func publish<E: DomainEvent>(_ event: E) throws {
        guard published.count < publishLimit, let event = event as? any RelocationEvent else { throw Broken() }
        published.append(event)
    }
}

/// A title of a text that the test knows to be one.
func title(_ text: String) throws -> Title {
    guard let title = Title(text) else { throw FakeUnit.Broken() }
    return title
}

/// Whether two sequences of events are the same, type by type and value by value.
func same(_ events: [any RelocationEvent], _ others: [any RelocationEvent]) -> Bool {
    func equal<E: RelocationEvent>(_ event: E, _ other: any RelocationEvent) -> Bool { event == other as? E }
    guard events.count == others.count else { return false }
    for (event, other) in zip(events, others) where !equal(event, other) { return false }
    return true
}
