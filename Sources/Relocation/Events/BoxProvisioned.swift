public import RelayCore

/// A box was ordered and stands ready, empty.
public struct BoxProvisioned: RelocationEvent {
    public static let about = About(
        "A box was ordered and stands ready, empty.",
        fields: [
            "boxID": "the new box's", "capacity": .unit("items", "how many it holds"),
            "title": "the label that it was ordered with",
        ])
    public let boxID: Int64
    /// How many items it holds: 5, 10 or 20.
    public let capacity: Int32
    /// The label that it was ordered with.
    public let title: String

    public init(boxID: Int64, capacity: Int32, title: String) {
        (self.boxID, self.capacity, self.title) = (boxID, capacity, title)
    }
}
