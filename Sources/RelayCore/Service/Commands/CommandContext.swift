/// What a command's handler receives with the request: the caller, and a way to report progress.
public struct CommandContext: Sendable {
    /// The caller.
    public let peer: Peer
    /// Where progress goes; nil where nobody waits for it.
    var outlet: ProgressOutlet?
    private let onProgress: (@Sendable (any Sendable) -> Void)?

    /// A context for tests that call a handler as a function. Real contexts come from the service.
    ///
    /// ```swift
    /// let context = CommandContext(peer: Peer(userID: 1000))
    /// let reply = try await desk.print(PrintJob(title: "Invitation", pages: 2), context)
    /// ```
    ///
    /// - Parameter peer: the caller.
    /// - Parameter onProgress: is called with each value that the handler reports.
    public init(peer: Peer, onProgress: (@Sendable (any Sendable) -> Void)? = nil) {
        (self.peer, self.onProgress) = (peer, onProgress)
    }
    /// Reports to the caller how far the command has come.
    ///
    /// ```swift
    /// service.handle(PrintJob.self) { job, context in
    ///     for page in 1...job.pages {
    ///         try await print(page, of: job)
    ///         context.report(.init(page: page), of: job)
    ///     }
    ///     return PrintJob.Reply(jobID: nextID())
    /// }
    /// ```
    ///
    /// - Order: values arrive in the order in which they were reported, before the reply.
    /// - Isolation: from any task or thread; never waits.
    /// - Loss: while the caller does not read, a later value replaces an earlier one. A value is dropped if it is over
    ///   32 KiB, if D-Bus cannot carry it, or if it is reported after the handler has returned.
    /// - Parameter progress: how far it has come.
    /// - Parameter command: the request that the handler was called with.
    public func report<C: Command>(_ progress: C.Progress, of command: C) {
        onProgress?(progress)
        guard let outlet, let codec = codec as? WireCodec<C.Progress> else { return }
        outlet.report(progress, codec)
    }
    /// What came with the call.
    var descriptors: [UInt32: ReceivedDescriptor] = [:]
    /// Of the command's `Progress`.
    var codec: (any Sendable)?
}
