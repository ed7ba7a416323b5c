/// What a person does in the window.
public enum MoveAction: Hashable, Sendable {
    case order(label: String, capacity: Int32)
    case pack(title: String)
    case takeOut(itemID: Int64, boxID: Int64)
    case dissolve(boxID: Int64)
    /// The text of a form has changed: what was said about the old one is no longer of interest.
    case edit(Place)
    /// The gap was noticed.
    case dismissGap

    /// Where something is done, and where its refusal is shown.
    public enum Place: Hashable, Sendable { case order, pack, box(Int64) }

    var place: Place? {
        switch self {
        case .order: .order
        case .pack: .pack
        case .takeOut(_, let boxID), .dissolve(let boxID): .box(boxID)
        case .edit, .dismissGap: nil
        }
    }
}
