public import RelayCore

/// No box had room for a new item.
public struct ItemDistributionFailed: RelocationEvent {
    public static let about: About = "No box had room for a new item."
    public let itemTitle: String

    public init(itemTitle: String) {
        self.itemTitle = itemTitle
    }
}
