import RelayCore

/// An item is gone.
public struct ItemRemoved: RelocationEvent {
    public let itemID: Int64

    public init(itemID: Int64) {
        self.itemID = itemID
    }
}
