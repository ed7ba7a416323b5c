public import RelayCore

/// Puts a new item into the least loaded box with room; replies with its id and where it is.
public struct DistributeItem: RelocationCommand {
    public static let about = About(
        "Puts a new item into the least loaded box with room; replies with its id and where it is.",
        fields: ["title": "1 to 200 characters, not all of them white space, none of them a control character"],
        reply: ["itemID": "the new item's", "boxID": "of the box that it is in"])
    /// 1 to 200 characters, not all of them white space, none of them a control character.
    public let title: String

    public init(title: String) { self.title = title }

    public struct Reply: Codable, Hashable, Sendable {
        public let itemID: Int64
        public let boxID: Int64
        public init(itemID: Int64, boxID: Int64) { (self.itemID, self.boxID) = (itemID, boxID) }
    }

    public enum Refusal: String, CommandRefusal, CaseIterable {
        case invalidTitle = "InvalidTitle"
        case noRoom = "NoRoom"

        public var message: String {
            switch self {
            case .invalidTitle:
                "a title has 1 to 200 characters, not all of them white space, none of them a control character"
            case .noRoom: "no box has room; order a box first"
            }
        }
    }
}
