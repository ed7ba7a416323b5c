package import Relocation

/// What a subscriber knows that was there from the beginning: the state, from events alone.
package struct Replay {
    private var boxes: [Int64: BoxProvisioned] = [:]
    private var items: [Int64: (boxID: Int64, title: String)] = [:]
    /// Events that do not follow from those before.
    package private(set) var contradictions: [String] = []

    package init() {}

    package var contents: Contents.Reply {
        Contents.Reply(
            boxes: boxes.values.sorted { $0.boxID < $1.boxID }.map { box in
                let inside = items.filter { $0.value.boxID == box.boxID }.sorted { $0.key < $1.key }
                return Contents.Box(
                    boxID: box.boxID, capacity: box.capacity, title: box.title,
                    items: inside.map { Contents.Item(itemID: $0.key, title: $0.value.title) })
            })
    }

    package mutating func apply(_ event: any RelocationEvent) {
        func check(_ isConsistent: Bool) { if !isConsistent { contradictions.append("\(event)") } }
        switch event {
        case let event as BoxProvisioned:
            check(boxes.updateValue(event, forKey: event.boxID) == nil)
        case let event as BoxRemoved:
            check(!items.values.contains { $0.boxID == event.boxID })
            check(boxes.removeValue(forKey: event.boxID) != nil)
        case let event as ItemProvisioned:
            check(boxes[event.boxID] != nil)
            check(items.updateValue((event.boxID, event.title), forKey: event.itemID) == nil)
        case let event as ItemMoved:
            check(items[event.itemID]?.boxID == event.fromBoxID && boxes[event.toBoxID] != nil)
            items[event.itemID]?.boxID = event.toBoxID
        case let event as ItemRemoved:
            check(items.removeValue(forKey: event.itemID) != nil)
        default: break  // What failed changes nothing.
        }
    }
}
