public import RelayCore
public import Relocation

/// Tells what is in which box, as of one moment.
public struct StockTaking: RelocationWork {
    public init() {}

    /// Boxes and their items by rising id. Publishes nothing.
    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws
        -> Contents.Reply
    {
        var boxes: [Contents.Box] = []
        for box in try unit.boxes() {
            let items = try unit.items(inBox: box.id).map { Contents.Item(itemID: $0.id, title: $0.title.text) }
            boxes.append(
                Contents.Box(boxID: box.id, capacity: box.capacity.rawValue, title: box.title.text, items: items))
        }
        return Contents.Reply(boxes: boxes)
    }
}
