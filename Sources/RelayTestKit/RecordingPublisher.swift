public import RelayCore
import Synchronization

/// Stands in where a publisher or an `EventSink` is injected, and records every event that is published.
///
/// Give `recorder` to code that takes an `EventSink`, `recorder.publisher` to code that takes an `EventPublisher`: whatever is
/// published through either is recorded, and reaches the publisher's subscribers.
///
/// - Order: of each publishing thread.
/// - Isolation: from any thread; an event is recorded when `publish` returns.
public final class RecordingPublisher: EventSink, Sendable {
    private struct State {
        var events: [any Event] = []
        var refusal: (any Error)?
    }
    /// An ordinary publisher.
    public let publisher: EventPublisher
    private let state: Shared
    private let tap: Subscription

    /// What the tap keeps: not the recorder, which keeps the tap.
    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    /// Records a new publisher, or the one given.
    public init(_ publisher: EventPublisher = EventPublisher(delivery: .immediate)) {
        let state = Shared()
        (self.publisher, self.state) = (publisher, state)
        tap = publisher.tap { event in state.value.withLock { $0.events.append(event) } }
    }

    /// Publishes and records; throws what `refuse(with:)` says, and then does neither.
    public func publish<E: DomainEvent>(_ event: E) throws {
        if let refusal = state.value.withLock({ $0.refusal }) { throw refusal }
        publisher.publish(event)
    }
    /// What `publish` of the sink throws from now on; nil for nothing.
    public func refuse(with error: (any Error)?) { state.value.withLock { $0.refusal = error } }

    /// All events so far, of all types.
    public var events: [any Event] { state.value.withLock { $0.events } }
    /// The events of one type so far.
    public func events<E: Event>(of type: E.Type = E.self) -> [E] { events.compactMap { $0 as? E } }
    /// Forgets what was recorded.
    public func removeAll() {
        // Released outside the lock: an event's `deinit` may be anybody's code.
        let old = state.value.withLock { state in
            defer { state.events = [] }
            return state.events
        }
        withExtendedLifetime(old) {}
    }
    /// Waits until the events recorded meet a condition; false when the time is over.
    public nonisolated(nonsending) func wait(
        within limit: Duration = .seconds(300), until condition: ([any Event]) -> Bool
    ) async -> Bool {
        await eventually(within: limit) { condition(events) }
    }
    /// Waits until so many events of a type are recorded; false when the time is over.
    public nonisolated(nonsending) func wait<E: Event>(
        for count: Int = 1, of type: E.Type, within limit: Duration = .seconds(300)
    ) async -> Bool {
        await eventually(within: limit) { events(of: type).count >= count }
    }
}
