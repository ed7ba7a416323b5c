public import RelayCore
public import Relocation

/// Removes a box, after spreading its items over the others.
public struct BoxRemoval: RelocationWork {
    public let request: RemoveBox
    public init(_ request: RemoveBox) { self.request = request }

    /// Publishes an `ItemMoved` for each item, by rising id, then `BoxRemoved`; throws `RemoveBox.Refusal`.
    ///
    /// Each item goes where `Distribution` would put it at that moment. Nothing is moved if not all have room.
    public func perform(in unit: inout some BoxRepository & ItemRepository & EventSink & ~Copyable) throws {
        let boxID = request.boxID
        guard try unit.box(boxID) != nil else { throw RemoveBox.Refusal.unknownBox }
        let items = try unit.items(inBox: boxID)
        // As many boxes as items: while one of these has got none, no further box is less loaded.
        let others = try unit.leastLoaded(items.count, except: boxID)
        guard let places = Self.places(for: items.count, in: others) else { throw RemoveBox.Refusal.noRoomElsewhere }
        for (item, place) in zip(items, places) {
            try unit.moveItem(item.id, toBox: place)
            try unit.publish(ItemMoved(itemID: item.id, fromBoxID: boxID, toBoxID: place))
        }
        try unit.removeBox(boxID)
        try unit.publish(BoxRemoved(boxID: boxID))
    }
    public func events(reporting failure: RemoveBox.Refusal) -> [any RelocationEvent] {
        let failed = BoxRemovalFailed(boxID: request.boxID, reason: request.message(of: failure))
        return switch failure {
        case .unknownBox: [failed]
        case .noRoomElsewhere: [BoxItemsRedistributionFailed(boxID: request.boxID), failed]
        }
    }

    /// The box of each of `count` items that come one after the other; nil if not all fit.
    static func places(for count: Int, in loads: [BoxLoad]) -> [Int64]? {
        if loads.reduce(0, { $0 + $1.room }) < count { return nil }
        var loads = loads
        var places: [Int64] = []
        for _ in 0..<count {
            guard let index = Distribution.leastLoaded(of: loads) else { return nil }
            loads[index].itemCount += 1  // Cannot overflow: it had room, so it was below the capacity.
            places.append(loads[index].boxID)
        }
        return places
    }
}
