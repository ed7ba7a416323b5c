public import RelayCore
public import Relocation

/// Puts a new item into the least loaded box with room.
public struct Distribution: RelocationWork {
    public let request: DistributeItem
    public init(_ request: DistributeItem) { self.request = request }

    /// Publishes `ItemProvisioned`; throws `DistributeItem.Failure`.
    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws -> Item {
        guard let title = Title(request.title) else { throw DistributeItem.Failure.invalidTitle }
        let loads = try unit.boxLoads()
        guard let index = Self.leastLoaded(of: loads) else { throw DistributeItem.Failure.noRoom }
        let item = try unit.addItem(title: title, boxID: loads[index].boxID)
        try unit.publish(ItemProvisioned(itemID: item.id, boxID: item.boxID, title: title.text))
        return item
    }

    /// The box that gets the next item: among those with room the one with the fewest items, of several the one with the lowest id.
    ///
    /// The number of items counts, not the share of the capacity: items spread evenly until small boxes are full.
    public static func leastLoaded(of loads: [BoxLoad]) -> Int? {
        loads.indices.filter { loads[$0].room > 0 }
            .min { (loads[$0].itemCount, loads[$0].boxID) < (loads[$1].itemCount, loads[$1].boxID) }
    }
}
