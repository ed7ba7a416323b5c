public import RelayCore

/// What a service gives to handlers, for tests that call a handler as a function.
extension Peer {
    /// A peer for tests. Real peers come from the bus.
    ///
    /// - Parameter uniqueName: the connection's name.
    /// - Parameter userID: the user that the peer runs as; nil if that is not known.
    public init(uniqueName: String = ":1.1", userID: UInt32?) { self.init(uniqueName, user: userID) }
}
extension CommandContext {
    /// A context for tests. Real contexts come from the service.
    ///
    /// ```swift
    /// let context = CommandContext(peer: Peer(userID: 1000))
    /// let reply = try await desk.print(PrintJob(title: "Invitation", pages: 2), context)
    /// ```
    ///
    /// - Parameter peer: the caller.
    /// - Parameter onProgress: is called with each value that the handler reports.
    /// - Parameter onPublish: is called with each event that the handler publishes.
    public init(
        peer: Peer, onProgress: (@Sendable (any Sendable) -> Void)? = nil,
        onPublish: (@Sendable (any DomainEvent) throws -> Void)? = nil
    ) { self.init(of: peer, onProgress: onProgress, onPublish: onPublish) }
}
extension Submission {
    /// A submission for tests. Real ones come from the service.
    ///
    /// - Parameter state: the submitted state.
    /// - Parameter present: the state that the submission is based on.
    /// - Parameter peer: the peer that submits.
    public init(_ state: Document, basedOn present: Document, peer: Peer = Peer(userID: nil)) {
        self.init(of: state, over: present, by: peer)
    }
}
