import RelayWire

/// What a command's handler receives with the request: the caller, and ways to publish events and to report progress.
public struct CommandContext: Sendable {
    /// The caller.
    public let peer: Peer
    /// Where progress goes; nil where nobody waits for it.
    var outlet: ProgressOutlet?
    private let onProgress: (@Sendable (any Sendable) -> Void)?
    private let onPublish: (@Sendable (any DomainEvent) throws -> Void)?
    /// Of the service; nil in a test.
    var publisher: CommandPublisher?

    package init(
        of peer: Peer, onProgress: (@Sendable (any Sendable) -> Void)? = nil,
        onPublish: (@Sendable (any DomainEvent) throws -> Void)? = nil
    ) { (self.peer, self.onProgress, self.onPublish) = (peer, onProgress, onPublish) }
    /// Publishes an event of a volatile interface of the service, as ``EventService/publish(_:)`` does.
    ///
    /// ```swift
    /// service.handle(Ponder.self) { _, context in try context.publish(Heartbeat()) }
    /// ```
    ///
    /// - Parameter event: the event.
    /// - Throws: as ``EventService/publish(_:)``.
    public func publish<E: DomainEvent>(_ event: E) throws where E.Interface.Durability == Volatile {
        try onPublish?(event)
        try publisher?.events.publish(event)
    }
    /// Publishes an event of a durable interface of the service in its own transaction, and returns when it is durable. To
    /// commit it together with other state, handle the command in a unit of work of RelayJournal.
    ///
    /// - Parameter event: the event.
    /// - Throws: as ``EventService/publish(_:)``.
    public nonisolated(nonsending) func publish<E: DomainEvent>(_ event: E) async throws
    where E.Interface.Durability == Durable {
        try onPublish?(event)
        try await publisher?.commit(event)
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

/// How a handler publishes: without the service, which keeps the handler. An object, as a context is copied often.
final class CommandPublisher: Sendable {
    let events: ExportedEvents
    private let storage: (any EventLogStorage)?

    init(_ events: ExportedEvents, _ storage: (any EventLogStorage)?) {
        (self.events, self.storage) = (events, storage)
    }
    nonisolated(nonsending) func commit<E: DomainEvent>(_ event: E) async throws {
        // First: without the interface there may be no journal either.
        let encoded = try events.encode(event)
        guard let storage else { throw RelayError(.internalFailure, "\(E.name) is durable, without a journal") }
        try await storage.commit(encoded)
    }
}
