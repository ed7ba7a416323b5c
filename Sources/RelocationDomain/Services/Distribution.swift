public import RelayCore
public import Relocation

/// Puts a new item into the least loaded box with room.
public struct Distribution: RelocationWork {
    public let request: DistributeItem
    public init(_ request: DistributeItem) { self.request = request }

    /// Publishes `ItemProvisioned`; throws `DistributeItem.Refusal`.
    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws -> Item {
        guard let title = Title(request.title) else { throw DistributeItem.Refusal.invalidTitle }
        guard let box = try unit.leastLoaded(1, except: nil).first else { throw DistributeItem.Refusal.noRoom }
        let item = try unit.addItem(title: title, boxID: box.boxID)
        try unit.publish(ItemProvisioned(itemID: item.id, boxID: item.boxID, title: title.text))
        return item
    }
    /// None for a title that is none: nothing was attempted, and only the caller can mend it.
    public func events(reporting failure: DistributeItem.Refusal) -> [any RelocationEvent] {
        switch failure {
        case .invalidTitle: []
        case .noRoom: [ItemDistributionFailed(itemTitle: request.title)]
        }
    }

    /// The box that gets the next item: among those with room the one with the fewest items, of several the one with
    /// the lowest id.
    ///
    /// The number of items counts, not the share of the capacity: items spread evenly until small boxes are full.
    public static func leastLoaded(of loads: [BoxLoad]) -> Int? {
        loads.indices.filter { loads[$0].room > 0 }
            .min { (loads[$0].itemCount, loads[$0].boxID) < (loads[$1].itemCount, loads[$1].boxID) }
    }
}
