public import RelayCore
import Synchronization

/// A double that takes the place of a publisher or an `EventSink`, and records every event.
///
/// Pass `recorder` to code that takes an `EventSink`, and `recorder.publisher` to code that takes an `EventPublisher`.
/// Events that are published through either are recorded, and reach the publisher's subscribers.
///
/// ```swift
/// let recorder = RecordingPublisher()
/// try remove(box, publishing: recorder)
/// #expect(recorder.events(of: BoxRemoved.self).count == 1)
/// ```
///
/// - Order: that of each publishing thread.
/// - Isolation: from any thread. An event is recorded when `publish` returns.
public final class RecordingPublisher: EventSink, Sendable {
    private struct State {
        var events: [any Event] = []
        var refusal: (any Error)?
    }
    /// An ordinary publisher, whose events are recorded.
    public let publisher: EventPublisher
    private let state: Shared
    private let tap: Subscription

    /// What the tap keeps: not the recorder, which keeps the tap.
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
    /// Makes `publish(_:)` throw from now on, or stop throwing.
    ///
    /// - Parameter error: the error that it throws; nil if it should throw nothing.
    public func refuse(with error: (any Error)?) { state.value.withLock { $0.refusal = error } }

    /// All events so far, of all types.
    public var events: [any Event] { state.value.withLock { $0.events } }
    /// The events of one type so far.
    ///
    /// - Parameter type: the type.
    public func events<E: Event>(of type: E.Type = E.self) -> [E] { events.compactMap { $0 as? E } }
    /// Removes all recorded events.
    public func removeAll() {
        // Released outside the lock: an event's `deinit` may be anybody's code.
        let old = state.value.withLock { state in
            defer { state.events = [] }
            return state.events
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
