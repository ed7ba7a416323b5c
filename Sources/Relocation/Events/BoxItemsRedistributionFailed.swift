public import RelayCore

/// The other boxes have no room for the items of a box that was to be removed. A `BoxRemovalFailed` follows.
public struct BoxItemsRedistributionFailed: RelocationEvent {
    public static let about: About = "The other boxes have no room for the items of a box that was to be removed."
    public let boxID: Int64

    public init(boxID: Int64) {
        self.boxID = boxID
    }
}
