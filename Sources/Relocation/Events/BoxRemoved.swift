public import RelayCore

/// A box is gone. Its items were moved to other boxes before, an `ItemMoved` each.
public struct BoxRemoved: RelocationEvent {
    public static let about: About = "A box is gone. Its items were moved to other boxes before."
    public let boxID: Int64

    public init(boxID: Int64) {
        self.boxID = boxID
    }
}
