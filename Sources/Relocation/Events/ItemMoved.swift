public import RelayCore

/// An item changed its box.
public struct ItemMoved: RelocationEvent {
    public static let about: About = "An item changed its box."
    public let itemID: Int64
    public let fromBoxID: Int64
    public let toBoxID: Int64

    public init(itemID: Int64, fromBoxID: Int64, toBoxID: Int64) {
        (self.itemID, self.fromBoxID, self.toBoxID) = (itemID, fromBoxID, toBoxID)
    }
}
