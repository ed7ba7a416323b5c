import Synchronization

/// Typed publish and subscribe within a process.
///
/// Make one for each subsystem, and inject it.
///
/// ```swift
/// let publisher = EventPublisher()
/// let subscription = publisher.subscribe(to: JobPrinted.self) { print($0.title) } onGap: { print($0) }
/// publisher.publish(job)
/// ```
///
/// - Order: deliveries to one actor or queue come in the order of `publish`, across event types. Each `.background`
///   subscription and each subscriber object has its own order. Immediate deliveries come in the order of each
///   publishing thread. An event that an immediate handler publishes is delivered at once, depth first: a later
///   immediate subscriber sees the inner event before the outer one. A buffered subscriber never does.
/// - Isolation: a handler runs on the actor that it is isolated to, otherwise where its delivery determines.
/// - Loss: buffers are bounded. Where events overflow, a ``Gap`` takes their place and counts them.
/// - Cancellation: ``Subscription/cancel()``, or the subscription's release. Handlers may subscribe, publish, cancel
///   and release.
public final class EventPublisher: Sendable, EventSink {
    let state = PublishingLock(PublisherState())
    /// Orders the calls of the interest observer.
    let interestOrder = Mutex(())
    let interest: (any InterestObserver)?
    let epoch = UInt64.random(in: 1...(.max))
    let drops = DropCounts()
    /// Where to run handlers that are not isolated to an actor.
    package let delivery: DeliveryTarget

    /// Creates a publisher.
    ///
    /// - Parameter delivery: where to run handlers that are not isolated to an actor: ``DeliveryTarget/mainActor`` for
    ///   a user interface, ``DeliveryTarget/immediate`` for short handlers that need no other thread. Closures in
    ///   top-level code, and in a method of the main actor, are isolated to it.
    public init(delivery: DeliveryTarget = .background) { (self.delivery, interest) = (delivery, nil) }
    /// A publisher that reports what is subscribed to. It keeps its observer.
    package init(delivery: DeliveryTarget, interest: any InterestObserver) {
        (self.delivery, self.interest) = (delivery, interest)
    }

    deinit {
        var after = AfterUnlock()
        state.withLock { state in
            for channel in state.channels.all {
                for subscriber in channel.immediate { subscriber.end() }
                for delivery in channel.buffered { delivery.end(&after) }
            }
            for mailbox in state.mailboxes.all { mailbox.close(&after) }
            for tap in state.taps { tap.end() }
        }
        after.run()
    }

    /// Whether all published events have been delivered, and their handlers have returned, and loops over streams wait.
    /// Events that pollable targets hold, and those of streams without a loop, do not count.
    package var isIdle: Bool {
        let (mailboxes, streams) = state.withLock { state in
            (state.mailboxes.all, state.channels.all.flatMap { $0.buffered.compactMap { $0 as? StreamBuffer } })
        }
        return mailboxes.allSatisfy(\.isIdle) && streams.allSatisfy(\.isIdle)
    }

    /// How many events this publisher's subscriptions, including ended ones, have dropped because their buffers were
    /// full.
    ///
    /// An event that two subscriptions dropped counts twice. ``Subscription/missed`` counts the events of one
    /// subscription, and includes the gaps that a relay delivered.
    package var overflowed: Int { drops.overflowed }

    /// Delivers an event to every subscriber of its type.
    ///
    /// It never waits for a buffered subscriber, and never throws.
    ///
    /// - Isolation: from any thread.
    /// - Parameter event: the event.
    @inlinable public func publish<E: Event>(_ event: E) {
        // The pointer is used only during the call.
        let rest = withUnsafePointer(to: event) { deliver(UnsafeRawPointer($0), ObjectIdentifier(E.self), nil) }
        if rest != .none { deliverRest(rest, of: event, nil) }
    }

    // MARK: Closures

    /// Calls `handler` with each event of a type.
    ///
    /// ```swift
    /// let subscription = publisher.subscribe(to: JobPrinted.self) { show($0) } onGap: { show(missing: $0) }
    /// ```
    ///
    /// - Order: that of `publish`, with all other closures on that actor or queue.
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines.
    /// - Loss: `onGap` is called in place of the missing events, where the handler runs.
    /// - Cancellation: by the subscription, which must be kept.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far the subscription may fall behind.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap.
    /// - Returns: the subscription, which ends when it is released.
    public func subscribe<E: Event>(
        to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) -> Void
    ) -> Subscription { subscribe(type, buffer, handler, onGap) }
    /// Calls a handler that may wait with each event of a type: the next one waits until it has returned.
    ///
    /// ```swift
    /// let subscription = publisher.subscribe(to: JobPrinted.self) { await archive($0) } onGap: { await note($0) }
    /// ```
    ///
    /// - Order: that of `publish`. The subscription has its own order: it delays no other one on the same actor or queue.
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines
    ///   (``DeliveryTarget/immediate`` means ``DeliveryTarget/background``).
    /// - Loss: `onGap` is called in place of the missing events.
    /// - Cancellation: by the subscription, which must be kept.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far the subscription may fall behind.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap.
    /// - Returns: the subscription, which ends when it is released.
    public func subscribe<E: Event>(
        to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) async -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) async -> Void
    ) -> Subscription {
        let route =
            (handler.isolation ?? onGap.isolation).map { DeliveryRoute.task(on: $0) } ?? .task(delivery)
        return Subscription(
            add(
                E.self, route, buffer, .async { await handler(EventBox<E>.value(in: $0)) }, .async { await onGap($0) },
                maySuspend: true))
    }

    /// Calls `handler` with each event of a type, on a delivery target.
    ///
    /// - Order: that of `publish`, across event types, on a queue, an actor or a pollable target.
    /// - Loss: `onGap` is called in place of the missing events, where the handler runs.
    /// - Cancellation: by the subscription, which must be kept.
    /// - Parameter type: the type of event.
    /// - Parameter delivery: where the handler runs.
    /// - Parameter buffer: how far the subscription may fall behind.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap.
    /// - Returns: the subscription, which ends when it is released.
    @inlinable public func subscribe<E: Event>(
        to type: E.Type = E.self, delivery: DeliveryTarget, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (E) -> Void, onGap: @escaping @Sendable (Gap) -> Void
    ) -> Subscription {
        // Here and not below, so that it is specialised for E in the caller's module.
        subscribe(delivery, buffer, handler, onGap) { handler($0.assumingMemoryBound(to: E.self).pointee) }
    }

    // MARK: Streams

    /// The events of a type from this moment on, as a sequence.
    ///
    /// To ignore gaps, write a loop with a pattern: `for await case .event(let job, _) in stream`.
    ///
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far the stream may fall behind.
    /// - Returns: a stream that buffers from now on.
    public func events<E: Event>(of type: E.Type = E.self, buffer: EventBuffer = .standard) -> EventStream<E> {
        let stream = StreamBuffer(buffer, drops) { [weak self] in self?.remove($0) }
        change(E.self) { channel, _ in channel.add(stream) }
        return EventStream(stream) { EventBox<E>.value(in: $0) }
    }

    /// The events of a whole interface from this moment on, in the interface's order.
    package func events<I: EventInterface>(
        in interface: I.Type, buffer: EventBuffer = .standard
    ) -> EventStream<any StreamEntry> {
        let stream = StreamBuffer(buffer, drops) { [weak self] in self?.remove($0) }
        add(stream, to: interface)
        // Only channels of domain events offer to this stream.
        return EventStream(stream) { $0.event as! any StreamEntry }
    }

    /// Calls `handler` with every event of any type, on the publishing thread. For recorders and diagnostics.
    ///
    /// A tap does not count as interest in an event type, so a relay requests no events for it.
    ///
    /// - Order: of each publishing thread.
    /// - Parameter handler: is called with each event, before `publish` returns.
    /// - Returns: the subscription, which ends when it is released.
    package func tap(_ handler: @escaping @Sendable (any Event) -> Void) -> Subscription {
        let tap = Tap(handler) { [weak self] tap in
            self?.state.withLock { state in state.taps.removeAll { $0 === tap } }
        }
        state.withLock { $0.taps.append(tap) }
        return Subscription(tap)
    }
}

/// Where domain code publishes: a unit of work in the service, a recording double in a test.
public protocol EventSink: ~Copyable {
    /// Accepts an event.
    ///
    /// - Parameter event: the event.
    /// - Throws: why the event cannot be accepted.
    mutating func publish<E: DomainEvent>(_ event: E) throws
}
