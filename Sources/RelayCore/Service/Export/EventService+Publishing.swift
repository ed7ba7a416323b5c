/// Publishing: an event is encoded by its type, and goes to its stream, or to the log first.
extension EventService {
    /// Publishes an event of a volatile interface at once. It never waits for the bus.
    ///
    /// - Isolation: from any thread.
    /// - Parameter event: the event.
    /// - Throws: `.notFound` for an event of an interface that is not exported. `.invalidArgument` for a value that
    ///   D-Bus cannot carry (a NUL in a string). `.tooLarge` over 1 MiB, or over a quarter of the interface's
    ///   ``EventInterface/ringCapacity``. `.unavailable` after the service's end. Nothing was published then.
    @inlinable public func publish<E: DomainEvent>(_ event: E) throws where E.Interface.Durability == Volatile {
        // The pointer is used only during the call.
        let isDone = try withUnsafePointer(to: event) {
            try publishBytes(UnsafeRawPointer($0), ObjectIdentifier(E.self))
        }
        if !isDone { try publishByType(event) }
    }
    /// Without the type, because generic code that is not specialised looks metadata up at every turn: a value whose
    /// own bytes are all that is published. Returns false for any other, with nothing done.
    @usableFromInline func publishBytes(_ value: UnsafeRawPointer, _ type: ObjectIdentifier) throws -> Bool {
        try events.publishBytes(value, type)
    }
    @usableFromInline func publishByType<E: StreamEntry>(_ event: E) throws { try events.publish(event) }
    /// Publishes an event of a durable interface in its own transaction. Returns when the event is durable and on its
    /// way.
    ///
    /// To commit an event together with a change of state, publish it within a unit of work of the journal.
    ///
    /// - Order: that of the commits. If one call of `publish` returned before another began, its event comes first.
    /// - Isolation: from any actor, which can do other work meanwhile. With an `EventJournal`, one thread of the
    ///   cooperative pool at a time may commit and wait for the disk. If the pool has only one thread, none does.
    /// - Cancellation: does not withdraw the event.
    /// - Parameter event: the event.
    /// - Throws: `.notFound` for an event of an interface that is not exported. `.invalidArgument` for a value that
    ///   D-Bus cannot carry (a NUL in a string). `.tooLarge` over 1 MiB. `.storageFull` or `.unavailable` from the
    ///   journal. Nothing was published then. `.outcomeUnknown` if the commit failed but may have happened: the service
    ///   ends, and the journal decides when the next run opens it.
    public nonisolated(nonsending) func publish<E: DomainEvent>(_ event: E) async throws
    where E.Interface.Durability == Durable {
        // First: without the interface there may be no journal either.
        let encoded = try events.encode(event)
        try await log.commit(encoded)
    }
    /// Publishes events of a durable interface in one transaction, in order: all of them, or none.
    ///
    /// - Parameter events: the events.
    /// - Throws: as ``publish(_:)``.
    public nonisolated(nonsending) func publish<E: DomainEvent>(contentsOf events: some Sequence<E>) async throws
    where E.Interface.Durability == Durable {
        var encoded: [EncodedEvent] = []
        encoded.reserveCapacity(events.underestimatedCount)
        for event in events { encoded.append(try self.events.encode(event)) }
        if !encoded.isEmpty { try await log.commit(encoded) }
    }
    /// Does not compile: a document is set.
    @available(*, unavailable, message: "a document is set, not published: document(_:).set(_:)")
    public func publish<Document: DomainDocument>(_ state: Document) throws {}
    private var log: any EventLogStorage {
        get throws {
            if let storage { return storage }
            throw RelayError(.internalFailure, "\(name) has a durable event and no journal")
        }
    }
}
