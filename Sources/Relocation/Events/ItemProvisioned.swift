public import RelayCore

/// An item was put into a box, where it is new.
public struct ItemProvisioned: RelocationEvent {
    public static let about: About = "An item was put into a box, where it is new."
    public let itemID: Int64
    public let boxID: Int64
    public let title: String

    public init(itemID: Int64, boxID: Int64, title: String) {
        (self.itemID, self.boxID, self.title) = (itemID, boxID, title)
    }
}
