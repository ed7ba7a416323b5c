public import RelayCore

/// A double for a unit of work: an `EventSink` that holds its events, as a transaction does until it is committed.
///
/// Pass it to domain code that takes `inout some EventSink`, in place of a journal's `UnitOfWork`.
///
/// ```swift
/// var unit = RecordingUnit()
/// try remove(box, in: &unit)
/// #expect(unit.events(of: BoxRemoved.self).map(\.boxID) == [box.id])
/// ```
///
/// ``RecordingPublisher/unitOfWork(_:)`` runs a unit as a journal does: it publishes the unit's events if the unit does
/// not throw.
public struct RecordingUnit: EventSink, DocumentSink, Sendable {
    /// The events so far, in the order of `publish`.
    public private(set) var events: [any DomainEvent] = []
    /// The states that documents were set to, in the order of `set`.
    public private(set) var documents: [any DomainDocument] = []
    private var publications: [@Sendable (RecordingPublisher) throws -> Void] = []
    /// What `publish(_:)` throws; nil for nothing.
    public var refusal: (any Error)?

    /// A unit without events.
    ///
    /// - Parameter refusal: what `publish(_:)` throws; nil for nothing.
    public init(refusing refusal: (any Error)? = nil) { self.refusal = refusal }

    /// Holds an event.
    ///
    /// - Parameter event: the event.
    /// - Throws: ``refusal``; then the event is not held.
    public mutating func publish<E: DomainEvent>(_ event: E) throws {
        if let refusal { throw refusal }
        events.append(event)
        publications.append { try $0.publish(event) }
    }
    /// Holds a document's state. It is not passed on to a ``RecordingPublisher``, which knows events only.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: ``refusal``; then the state is not held.
    public mutating func set<Document: DomainDocument>(_ state: Document) throws {
        if let refusal { throw refusal }
        documents.append(state)
    }
    /// The events of one type so far.
    ///
    /// - Parameter type: the type of event.
    public func events<E: DomainEvent>(of type: E.Type = E.self) -> [E] { events.compactMap { $0 as? E } }

    fileprivate func commit(to recorder: RecordingPublisher) throws {
        for publish in publications { try publish(recorder) }
    }
}

extension RecordingPublisher {
    /// Runs a unit of work, then publishes its events. If `body` throws, none is published.
    ///
    /// - Parameter body: changes the state and publishes events.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, and what ``refuse(with:)`` was called with.
    @discardableResult
    public func unitOfWork<Result>(_ body: (inout RecordingUnit) throws -> Result) throws -> Result {
        var unit = RecordingUnit()
        let result = try body(&unit)
        try unit.commit(to: self)
        return result
    }
}
