public import RelayCore

/// Orders a box of 5, 10 or 20 items; replies with its id.
public struct OrderBox: RelocationCommand {
    public static let about = About(
        "Orders a box; replies with its id.",
        fields: [
            "label": "1 to 200 characters, not all of them white space, none of them a control character",
            "capacity": .unit("items", "5, 10 or 20"),
        ], reply: ["boxID": "the new box's"])
    /// 1 to 200 characters, not all of them white space, none of them a control character.
    public let label: String
    /// 5, 10 or 20.
    public let capacity: Int32

    public init(label: String, capacity: Int32) { (self.label, self.capacity) = (label, capacity) }

    public struct Reply: Codable, Hashable, Sendable {
        public let boxID: Int64
        public init(boxID: Int64) { self.boxID = boxID }
    }

    public enum Refusal: String, CommandRefusal, CaseIterable {
        case invalidCapacity = "InvalidCapacity"
        case invalidLabel = "InvalidLabel"

        public var message: String {
            switch self {
            case .invalidCapacity: "a box has a capacity of 5, 10 or 20"
            case .invalidLabel:
                "a label has 1 to 200 characters, not all of them white space, none of them a control character"
            }
        }
    }
}
