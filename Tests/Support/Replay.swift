package import Relocation

/// What a subscriber knows that was there from the beginning: the state, from events alone.
package struct Replay {
    private var boxes: [Int64: BoxProvisioned] = [:]
    private var items: [Int64: (boxID: Int64, title: String)] = [:]
    /// Events that do not follow from those before.
    package private(set) var contradictions: [String] = []

    package init() {}

    package var contents: Warehouse {
        Warehouse(
            boxes: boxes.values.map { Contents.Box(boxID: $0.boxID, capacity: $0.capacity, title: $0.title) },
            items: items.map { Contents.Item(itemID: $0.key, boxID: $0.value.boxID, title: $0.value.title) })
    }

    package mutating func apply(_ event: any RelocationEvent) {
        switch event {
        case let event as BoxProvisioned:
            check(boxes.updateValue(event, forKey: event.boxID) == nil, event)
        case let event as BoxRemoved:
            check(!items.values.contains { $0.boxID == event.boxID }, event)
            check(boxes.removeValue(forKey: event.boxID) != nil, event)
        case let event as ItemProvisioned:
            check(boxes[event.boxID] != nil, event)
            check(items.updateValue((event.boxID, event.title), forKey: event.itemID) == nil, event)
        case let event as ItemMoved:
            check(items[event.itemID]?.boxID == event.fromBoxID && boxes[event.toBoxID] != nil, event)
            items[event.itemID]?.boxID = event.toBoxID
        case let event as ItemRemoved:
            check(items.removeValue(forKey: event.itemID) != nil, event)
        // What failed changes nothing, and must be so by what was before.
        case let event as ItemDistributionFailed: check(room() == 0, event)
        case let event as BoxItemsRedistributionFailed:
            check(boxes[event.boxID] != nil && count(in: event.boxID) > room(except: event.boxID), event)
        case let event as BoxRemovalFailed:
            check(boxes[event.boxID] == nil || count(in: event.boxID) > room(except: event.boxID), event)
        case let event as ItemRemovalFailed:
            check(boxes[event.boxID] == nil || items[event.itemID]?.boxID != event.boxID, event)
        default: contradictions.append("an event that is not known: \(event)")
        }
    }
    private func count(in boxID: Int64) -> Int { items.values.count { $0.boxID == boxID } }
    /// How many items fit into all boxes but one.
    private func room(except boxID: Int64? = nil) -> Int {
        var used: [Int64: Int] = [:]
        for item in items.values { used[item.boxID, default: 0] += 1 }
        return boxes.values.lazy.filter { $0.boxID != boxID }
            .reduce(0) { $0 + max(0, Int($1.capacity) - used[$1.boxID, default: 0]) }
    }
    private mutating func check(_ isConsistent: Bool, _ event: any RelocationEvent) {
        if !isConsistent { contradictions.append("\(event)") }
    }
}
