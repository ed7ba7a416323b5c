public import RelayCore
public import Relocation

/// Removes an item from its box.
public struct ItemRemoval: RelocationWork {
    public let request: RemoveItem
    public init(_ request: RemoveItem) { self.request = request }

    /// Publishes `ItemRemoved`; throws `RemoveItem.Refusal`, about the item before about the box.
    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
        guard let item = try unit.item(request.itemID) else { throw RemoveItem.Refusal.unknownItem }
        guard try unit.box(request.boxID) != nil else { throw RemoveItem.Refusal.unknownBox }
        guard item.boxID == request.boxID else { throw RemoveItem.Refusal.notInBox }
        try unit.removeItem(item.id)
        try unit.publish(ItemRemoved(itemID: item.id))
    }
    public func events(reporting failure: RemoveItem.Refusal) -> [any RelocationEvent] {
        [ItemRemovalFailed(itemID: request.itemID, boxID: request.boxID)]
    }
}
