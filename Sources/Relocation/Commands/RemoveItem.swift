public import RelayCore

/// Removes an item from the box that it is in.
public struct RemoveItem: RelocationCommand {
    public static let about = About(
        "Removes an item from the box that it is in.",
        fields: ["itemID": "of the item", "boxID": "where it is believed to be; refused if it is elsewhere"])
    public let itemID: Int64
    /// The box where the caller believes the item to be: a caller with a stale view is refused.
    public let boxID: Int64

    public init(itemID: Int64, boxID: Int64) { (self.itemID, self.boxID) = (itemID, boxID) }

    public enum Refusal: String, CommandRefusal, CaseIterable {
        case unknownBox = "UnknownBox"
        case unknownItem = "UnknownItem"
        case notInBox = "NotInBox"

        public var message: String {
            switch self {
            case .unknownBox: "there is no box with this id"
            case .unknownItem: "there is no item with this id"
            case .notInBox: "the item is in another box; ask Contents where"
            }
        }
    }
}
