public import RelayCore

/// A box was to be removed and stays, with its items.
public struct BoxRemovalFailed: RelocationEvent {
    public static let about = About(
        "A box was to be removed and stays, with its items.",
        fields: ["reason": "for a person"])
    public let boxID: Int64
    /// For a person.
    public let reason: String

    public init(boxID: Int64, reason: String) {
        (self.boxID, self.reason) = (boxID, reason)
    }
}
