public import RelayCore

/// An item was to be removed from a box and was not: the box or the item is unknown, or the item is elsewhere.
public struct ItemRemovalFailed: RelocationEvent {
    public static let about: About =
        "An item was to be removed and was not: it or the box is unknown, or it is elsewhere."
    public let itemID: Int64
    public let boxID: Int64

    public init(itemID: Int64, boxID: Int64) {
        (self.itemID, self.boxID) = (itemID, boxID)
    }
}
