/// What a client knows of boxes and items: the pages of `Contents`, joined with the events of `Relocation1`.
///
/// Each page names the sequence that it is of, and an event changes only what is of an earlier one. So pages and events may come
/// in any mixture: pages in their order, events in that of their sequences, all that follow the first page's sequence. After a gap
/// begin anew.
public struct Inventory: Sendable {
    /// By id.
    public private(set) var boxes: [Int64: Contents.Box] = [:]
    /// By id.
    public private(set) var items: [Int64: Contents.Item] = [:]
    /// Where the next page begins.
    public private(set) var next: Contents.Place?
    /// Whether the last page was added: until then the pages can differ in what they have seen.
    public private(set) var isWhole = false

    /// What a page covers: the ids up to these, as of its sequence.
    private struct Range {
        let through: Contents.Place
        let sequence: UInt64
    }
    private var ranges: [Range] = []
    /// Events that came before the last page.
    private var early: [(event: any RelocationEvent, sequence: UInt64)] = []

    public init() {}

    /// Adds the page that follows those added before. Without effect after the last.
    public mutating func add(_ page: Contents.Reply) {
        if isWhole { return }
        for box in page.boxes { boxes[box.boxID] = box }
        for item in page.items { items[item.itemID] = item }
        ranges.append(Range(through: page.next ?? Contents.Place(boxID: .max, itemID: .max), sequence: page.sequence))
        next = page.next
        if next != nil { return }
        isWhole = true
        for (event, sequence) in early { change(event, sequence) }
        early = []
    }
    /// Applies an event, unless the page that it concerns has seen it. Keeps it until the last page was added.
    public mutating func apply(_ event: any RelocationEvent, sequence: UInt64) {
        if isWhole { change(event, sequence) } else { early.append((event, sequence)) }
    }

    private mutating func change(_ event: any RelocationEvent, _ sequence: UInt64) {
        switch event {
        case let event as BoxProvisioned where isNews(sequence, of: event.boxID, \.boxID):
            boxes[event.boxID] = Contents.Box(boxID: event.boxID, capacity: event.capacity, title: event.title)
        case let event as BoxRemoved where isNews(sequence, of: event.boxID, \.boxID): boxes[event.boxID] = nil
        case let event as ItemProvisioned where isNews(sequence, of: event.itemID, \.itemID):
            items[event.itemID] = Contents.Item(itemID: event.itemID, boxID: event.boxID, title: event.title)
        case let event as ItemMoved where isNews(sequence, of: event.itemID, \.itemID):
            guard let title = items[event.itemID]?.title else { return }
            items[event.itemID] = Contents.Item(itemID: event.itemID, boxID: event.toBoxID, title: title)
        case let event as ItemRemoved where isNews(sequence, of: event.itemID, \.itemID): items[event.itemID] = nil
        default: break  // What failed changes nothing.
        }
    }
    private func isNews(_ sequence: UInt64, of id: Int64, _ part: KeyPath<Contents.Place, Int64>) -> Bool {
        sequence > ranges.first { id <= $0.through[keyPath: part] }?.sequence ?? 0
    }
}
