public import RelayCore

/// Removes a box after moving its items to the others; changes nothing if those lack room.
public struct RemoveBox: RelocationCommand {
    public static let about = About(
        "Removes a box after moving its items to the others; changes nothing if those lack room.",
        fields: ["boxID": "of the box"])
    public let boxID: Int64

    public init(boxID: Int64) { self.boxID = boxID }

    public enum Refusal: String, CommandRefusal, CaseIterable {
        case unknownBox = "UnknownBox"
        case noRoomElsewhere = "NoRoomElsewhere"

        public var message: String {
            switch self {
            case .unknownBox: "there is no box with this id"
            case .noRoomElsewhere: "the other boxes lack room for its items; order a box or remove items first"
            }
        }
    }
}
