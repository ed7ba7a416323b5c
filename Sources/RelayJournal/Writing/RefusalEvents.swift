public import RelayCore

/// Publishes the events that report the refusal of a unit. It cannot change state.
///
/// - Order: as in ``UnitOfWork``. The unit's own events are dropped.
/// - Isolation: it cannot be kept, copied or sent elsewhere.
/// - Loss: as in ``UnitOfWork``.
public struct RefusalEvents: ~Copyable, EventSink {
    private let engine: JournalEngine
    init(_ engine: JournalEngine) { self.engine = engine }

    /// Adds an event.
    ///
    /// - Parameter event: the event.
    /// - Throws: as ``UnitOfWork/publish(_:)``.
    public mutating func publish<E: DomainEvent>(_ event: E) throws {
        try engine.publish(event)
    }
}
