public import RelayCore
import Synchronization

/// Records what an interface's subscribers receive: its events with their stamps, and gaps, in the interface's order.
///
/// It subscribes to every event of the interface, so a relay follows the interface. (A ``RecordingSink``, in
/// contrast, records what code publishes, and does not make a relay follow an interface.)
///
/// ```swift
/// let recorder = EventRecorder(relay.publisher, of: Printing1.self)
/// relay.activate()
/// …
/// try await harness.settle()
/// #expect(recorder.events(of: JobPrinted.self).map(\.title) == ["Invitation"])
/// #expect(recorder.gaps.isEmpty)
/// ```
///
/// - Order: that of the interface.
/// - Isolation: from any thread. An event is recorded at the moment of its delivery, without an intermediate task.
/// - Loss: none. The recorder holds everything until ``removeAll()``.
/// - Cancellation: the recorder's release.
public final class EventRecorder: Sendable {
    private let stream: EventStream<any StreamEntry>
    private let recorded = Mutex<[EventOrGap<any StreamEntry>]>([])

    /// Begins to record.
    ///
    /// - Parameter publisher: a relay's publisher, or any other.
    /// - Parameter interface: the interface.
    public init<I: EventInterface>(_ publisher: EventPublisher, of interface: I.Type) {
        stream = publisher.events(in: interface, buffer: .bufferingNewest(.max))
    }
    deinit { stream.cancel() }

    /// All events and gaps so far.
    public var deliveries: [EventOrGap<any StreamEntry>] {
        recorded.withLock { recorded in
            while let delivery = stream.poll() { recorded.append(delivery) }
            return recorded
        }
    }
    /// The events so far, of all types.
    public var events: [any StreamEntry] {
        deliveries.compactMap { if case .event(let event, _) = $0 { event } else { nil } }
    }
    /// The events of one type so far.
    ///
    /// - Parameter type: the type of event.
    public func events<E: StreamEntry>(of type: E.Type = E.self) -> [E] { events.compactMap { $0 as? E } }
    /// The stamps of the events so far, in the order of ``events``.
    public var stamps: [Stamp] {
        deliveries.compactMap { if case .event(_, let stamp) = $0 { stamp } else { nil } }
    }
    /// The gaps so far.
    public var gaps: [Gap] { deliveries.compactMap { if case .gap(let gap) = $0 { gap } else { nil } } }
    /// Removes all recorded events and gaps.
    public func removeAll() {
        let old = deliveries
        recorded.withLock { $0.removeFirst(min(old.count, $0.count)) }
    }
    /// Waits until the recorded deliveries meet a condition. With a harness, ``TestHarness/settle(within:)`` is
    /// simpler.
    ///
    /// - Parameter limit: how long to wait.
    /// - Parameter condition: is called with everything so far.
    /// - Returns: false if the time ran out.
    public nonisolated(nonsending) func wait(
        within limit: Duration = .testLimit, until condition: ([EventOrGap<any StreamEntry>]) -> Bool
    ) async -> Bool {
        await eventually(within: limit) { condition(deliveries) }
    }
}

extension EventPublisher {
    /// Delivers a gap to an interface's subscribers, as a relay does when events are missing.
    ///
    /// - Order: that of the calls, together with the events that the same thread publishes.
    /// - Parameter gap: the gap.
    /// - Parameter interface: the interface; each subscription to any of its events gets the gap once.
    public func deliver<I: EventInterface>(gap: Gap, in interface: I.Type) { deliver(gap, in: I.self) }
    /// Delivers a gap to the subscribers of one type.
    ///
    /// - Parameter gap: the gap.
    /// - Parameter type: the type of event.
    public func deliver<E: Event>(gap: Gap, to type: E.Type) { deliver(gap, to: [type]) }
}
