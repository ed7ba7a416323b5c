/// What a handler knows besides the request.
public struct CommandContext: Sendable {
    /// Who asks.
    public let peer: Peer
    package init(peer: Peer) { self.peer = peer }
}
