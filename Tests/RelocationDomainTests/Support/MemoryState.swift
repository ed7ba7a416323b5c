import RelayCore
import RelocationDomain

/// The state of a `MemoryStore`: boxes by rising id, each with its items by rising id. A value: a copy is a snapshot.
struct MemoryState: Hashable, Sendable {
    private struct StoredBox: Hashable, Sendable {
        let box: Box
        var items: [Item]
    }
    private var stored: [StoredBox] = []
    private var boxIDs: [Int64: Int64] = [:]
    /// The ids given last. Never reset: an id is not used again after its box or item is gone.
    private var lastBoxID: Int64
    private var lastItemID: Int64

    /// Nothing. The next ids follow those given.
    init(lastBoxID: Int64 = 0, lastItemID: Int64 = 0) {
        (self.lastBoxID, self.lastItemID) = (lastBoxID, lastItemID)
    }

    var boxes: [Box] { stored.map(\.box) }
    var boxLoads: [BoxLoad] {
        stored.map { BoxLoad(boxID: $0.box.id, capacity: $0.box.capacity, itemCount: $0.items.count) }
    }
    func box(_ id: Int64) -> Box? { boxIndex(id).map { stored[$0].box } }
    func leastLoaded(_ count: Int, except boxID: Int64?) -> [BoxLoad] {
        var (loads, places) = (boxLoads.filter { $0.boxID != boxID }, [BoxLoad]())
        while places.count < count, let index = Distribution.leastLoaded(of: loads) {
            places.append(loads.remove(at: index))
        }
        return places
    }
    /// A part of it, as a page needs it.
    func stock(after boxID: Int64, _ itemID: Int64, count: Int, sequence: UInt64) -> Stock {
        let boxes = Array(boxes.filter { $0.id > boxID }.prefix(count))
        let items = stored.flatMap(\.items).filter { $0.id > itemID }.sorted { $0.id < $1.id }
        return Stock(epoch: 1, sequence: sequence, boxes: boxes, items: Array(items.prefix(count - boxes.count)))
    }
    func items(inBox boxID: Int64) -> [Item] { boxIndex(boxID).map { stored[$0].items } ?? [] }
    func item(_ id: Int64) -> Item? { place(of: id).map { stored[$0.box].items[$0.item] } }

    mutating func addBox(title: Title, capacity: BoxCapacity) throws -> Box {
        let box = Box(id: try Self.next(after: lastBoxID, "box"), title: title, capacity: capacity)
        stored.append(StoredBox(box: box, items: []))
        lastBoxID = box.id
        return box
    }
    mutating func removeBox(_ id: Int64) throws {
        let index = try requiredBoxIndex(id)
        guard stored[index].items.isEmpty else {
            throw RelayError(.conflict, "box \(id) still holds \(stored[index].items.count) items; move them first")
        }
        stored.remove(at: index)
    }
    mutating func addItem(title: Title, boxID: Int64) throws -> Item {
        let index = try requiredBoxIndex(boxID)
        let item = Item(id: try Self.next(after: lastItemID, "item"), title: title, boxID: boxID)
        stored[index].items.append(item)
        boxIDs[item.id] = boxID
        lastItemID = item.id
        return item
    }
    mutating func moveItem(_ id: Int64, toBox boxID: Int64) throws {
        let target = try requiredBoxIndex(boxID)
        let place = try requiredPlace(of: id)
        let old = stored[place.box].items.remove(at: place.item)
        let items = stored[target].items
        let position = Self.insertionPoint(in: items.count) { items[$0].id < id }
        stored[target].items.insert(Item(id: id, title: old.title, boxID: boxID), at: position)
        boxIDs[id] = boxID
    }
    mutating func removeItem(_ id: Int64) throws {
        let place = try requiredPlace(of: id)
        stored[place.box].items.remove(at: place.item)
        boxIDs[id] = nil
    }

    private static func next(after last: Int64, _ kind: String) throws -> Int64 {
        let (next, overflow) = last.addingReportingOverflow(1)
        if overflow { throw RelayError(.storageFull, "no \(kind) id is left after \(last)") }
        return next
    }
    /// The first index that is not `below`, by bisection.
    private static func insertionPoint(in count: Int, below: (Int) -> Bool) -> Int {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = below(middle) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
    private func boxIndex(_ id: Int64) -> Int? {
        let index = Self.insertionPoint(in: stored.count) { stored[$0].box.id < id }
        return index < stored.count && stored[index].box.id == id ? index : nil
    }
    private func place(of itemID: Int64) -> (box: Int, item: Int)? {
        guard let boxID = boxIDs[itemID], let box = boxIndex(boxID) else { return nil }
        let items = stored[box].items
        let item = Self.insertionPoint(in: items.count) { items[$0].id < itemID }
        return item < items.count && items[item].id == itemID ? (box, item) : nil
    }
    private func requiredBoxIndex(_ id: Int64) throws -> Int {
        guard let index = boxIndex(id) else { throw RelayError(.notFound, "there is no box \(id)") }
        return index
    }
    private func requiredPlace(of itemID: Int64) throws -> (box: Int, item: Int) {
        guard let place = place(of: itemID) else { throw RelayError(.notFound, "there is no item \(itemID)") }
        return place
    }
}
