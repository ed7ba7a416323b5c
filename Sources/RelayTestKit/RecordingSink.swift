public import RelayCore
import Synchronization

/// A double that records what code publishes: in place of a unit of work, of a service, or of a publisher.
///
/// Pass it to code that takes an `EventSink` or a `DocumentSink`, and its ``publisher`` to code that takes an
/// `EventPublisher`. Events that are published through either are recorded, and reach the publisher's subscribers.
///
/// ```swift
/// var sink = RecordingSink()
/// try remove(box, in: &sink)
/// #expect(sink.events(of: BoxRemoved.self).map(\.boxID) == [box.id])
/// ```
///
/// What subscribers receive, gaps included, is what an ``EventRecorder`` records.
///
/// - Order: that of each publishing thread.
/// - Isolation: from any thread. An event is recorded when `publish` returns.
public final class RecordingSink: EventSink, DocumentSink, Sendable {
    private struct State {
        var events: [any Event] = []
        var documents: [any DomainDocument] = []
        var refusal: (any Error)?
    }
    /// An ordinary publisher, whose events are recorded.
    public let publisher: EventPublisher
    private let state: Shared
    private let tap: Subscription

    /// What the tap keeps: not the sink, which keeps the tap.
    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    /// Records a publisher.
    ///
    /// - Parameter publisher: the publisher; a new one unless given.
    public init(_ publisher: EventPublisher = EventPublisher(delivery: .immediate)) {
        let state = Shared()
        (self.publisher, self.state) = (publisher, state)
        tap = publisher.tap { event in state.value.withLock { $0.events.append(event) } }
    }

    /// Publishes and records an event.
    ///
    /// - Parameter event: the event.
    /// - Throws: what ``refuse(with:)`` was called with; then the event is neither published nor recorded.
    public func publish<E: DomainEvent>(_ event: E) throws {
        if let refusal = state.value.withLock({ $0.refusal }) { throw refusal }
        publisher.publish(event)
    }
    /// Records a document's state.
    ///
    /// - Parameter state: the whole new state.
    /// - Throws: what ``refuse(with:)`` was called with; then the state is not recorded.
    public func set<Document: DomainDocument>(_ state: Document) throws {
        try self.state.value.withLock { value in
            if let refusal = value.refusal { throw refusal }
            value.documents.append(state)
        }
    }
    /// Makes `publish(_:)` and `set(_:)` throw from now on, or stop throwing.
    ///
    /// - Parameter error: the error that they throw; nil if they should throw nothing.
    public func refuse(with error: (any Error)?) { state.value.withLock { $0.refusal = error } }

    /// Runs a unit of work, then publishes its events and sets its documents. If `body` throws, nothing of it is
    /// recorded.
    ///
    /// - Parameter body: changes the state and publishes events.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, and what ``refuse(with:)`` was called with.
    @discardableResult
    public func unitOfWork<Result>(_ body: (inout RecordingSink) throws -> Result) throws -> Result {
        var unit = RecordingSink()
        let result = try body(&unit)
        for case let event as any DomainEvent in unit.events { try publish(event) }
        for document in unit.documents { try set(document) }
        return result
    }

    /// All events so far, of all types.
    public var events: [any Event] { state.value.withLock { $0.events } }
    /// The events of one type so far.
    ///
    /// - Parameter type: the type.
    public func events<E: Event>(of type: E.Type = E.self) -> [E] { events.compactMap { $0 as? E } }
    /// The states that documents were set to, in the order of `set`.
    public var documents: [any DomainDocument] { state.value.withLock { $0.documents } }
    /// Removes all recorded events and documents.
    public func removeAll() {
        // Released outside the lock: an event's `deinit` may be anybody's code.
        let old = state.value.withLock { state in
            defer { (state.events, state.documents) = ([], []) }
            return (state.events, state.documents)
        }
        withExtendedLifetime(old) {}
    }
    /// Waits until the recorded events meet a condition.
    ///
    /// - Parameter limit: how long to wait.
    /// - Parameter condition: is called with all events so far.
    /// - Returns: false if the time is over.
    public nonisolated(nonsending) func wait(
        within limit: Duration = .testLimit, until condition: ([any Event]) -> Bool
    ) async -> Bool {
        await eventually(within: limit) { condition(events) }
    }
    /// Waits until enough events of a type are recorded.
    ///
    /// - Parameter count: how many.
    /// - Parameter type: the type of event.
    /// - Parameter limit: how long to wait.
    /// - Returns: false if the time is over.
    public nonisolated(nonsending) func wait<E: Event>(
        for count: Int = 1, of type: E.Type, within limit: Duration = .testLimit
    ) async -> Bool {
        await eventually(within: limit) { events(of: type).count >= count }
    }
}
