public import RelayCore

/// An item is gone.
public struct ItemRemoved: RelocationEvent {
    public static let about: About = "An item is gone."
    public let itemID: Int64

    public init(itemID: Int64) {
        self.itemID = itemID
    }
}
