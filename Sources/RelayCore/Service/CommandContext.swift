/// What a handler knows besides the request.
public struct CommandContext: Sendable {
    /// Who asks.
    public let peer: Peer
    package init(peer: Peer) { self.peer = peer }
}

/// The other side of a call, as the bus vouches for it.
public struct Peer: Hashable, Sendable {
    public let uniqueName: String
    public let userID: UInt32
    package init(uniqueName: String, userID: UInt32) { (self.uniqueName, self.userID) = (uniqueName, userID) }
}
