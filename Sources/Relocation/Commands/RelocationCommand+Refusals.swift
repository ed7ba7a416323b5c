import RelayCore

extension OrderBox: ExplainsRefusals {
    package func explanation(of refusal: Refusal) -> String {
        switch refusal {
        case .invalidCapacity: "\(refusal.message), not \(capacity)"
        case .invalidLabel: "\(refusal.message); this one has \(Self.count(label))"
        }
    }
}
extension DistributeItem: ExplainsRefusals {
    package func explanation(of refusal: Refusal) -> String {
        switch refusal {
        case .invalidTitle: "\(refusal.message); this one has \(Self.count(title))"
        case .noRoom: refusal.message
        }
    }
}
extension RemoveBox: ExplainsRefusals {
    package func explanation(of refusal: Refusal) -> String {
        switch refusal {
        case .unknownBox: "there is no box \(boxID); Contents lists those that there are"
        case .noRoomElsewhere:
            "the other boxes lack room for the items of box \(boxID); order a box or remove items first"
        }
    }
}
extension RemoveItem: ExplainsRefusals {
    package func explanation(of refusal: Refusal) -> String {
        switch refusal {
        case .unknownBox: "there is no box \(boxID); Contents lists those that there are"
        case .unknownItem: "there is no item \(itemID); Contents lists those that there are"
        case .notInBox: "item \(itemID) is not in box \(boxID), but in another; Contents says in which"
        }
    }
}

extension RelocationCommand {
    /// Never the text itself: it may have anything in it.
    fileprivate static func count(_ text: String) -> String {
        let count = text.unicodeScalars.count
        return count == 1 ? "1 character" : "\(count) characters"
    }
}
