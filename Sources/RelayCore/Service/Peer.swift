/// The other side of a call, as the bus vouches for it.
public struct Peer: Hashable, Sendable {
    /// The connection's name, until the bus or the peer restarts.
    public let uniqueName: String
    /// The user that the peer runs as; nil when it left before the bus was asked.
    public let userID: UInt32?
    package init(uniqueName: String, userID: UInt32?) { (self.uniqueName, self.userID) = (uniqueName, userID) }
}
