import Synchronization

/// Typed publish and subscribe within a process. Make as many as there are subsystems, and inject them.
///
/// - Order: deliveries to one actor or queue come in the order of `publish`, across event types. `.background`
///   subscriptions and subscriber objects have an order each. Immediate deliveries come in the order of each publishing
///   thread; an event that a handler publishes there is delivered at once, depth first, so that a later immediate
///   subscriber sees the inner event before the outer one. Buffered subscribers never do.
/// - Isolation: a handler runs on the actor that it is written on; any other where its delivery says.
/// - Loss: buffers are bounded; what overflows is a `Gap` in its place, counted.
/// - Cancellation: `Subscription.cancel()`, or its release. Handlers may subscribe, publish, cancel and release at will.
public final class EventPublisher: Sendable, EventSink {
    let state = Mutex(PublisherState())
    /// Orders what the interest observer is told.
    let interestOrder = Mutex(())
    let interest: (any InterestObserver)?
    let epoch = UInt64.random(in: 1...(.max))
    /// Where handlers run that are not isolated to an actor of their own.
    public let delivery: DeliveryTarget

    /// A publisher with a default delivery: `.mainActor` for a user interface, `.immediate` for a tight inner circle.
    public init(delivery: DeliveryTarget = .background) { (self.delivery, interest) = (delivery, nil) }
    /// A publisher that tells what is subscribed to. It keeps its observer.
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
            for mailbox in state.mailboxes.values { mailbox.close(&after) }
            for mailbox in state.privateMailboxes.values { mailbox.close(&after) }
            for tap in state.taps { tap.end() }
        }
        after.run()
    }

    /// Gives the event to every subscriber of its type. From any thread; never waits for a buffered subscriber, never throws.
    @inlinable public func publish<E: Event>(_ event: E) {
        // The pointer is used only during the call.
        let rest = withUnsafePointer(to: event) { deliver(UnsafeRawPointer($0), ObjectIdentifier(E.self), nil) }
        if rest != .none { deliverRest(rest, of: event, nil) }
    }

    // MARK: Closures

    /// Calls `handler` with each event of a type: on the actor it is written on, else where the publisher's delivery says.
    ///
    /// - Order: with all other closures on that actor or queue, that of `publish`.
    /// - Loss: `onGap` is called in the place of what is missing, where the handler is.
    /// - Cancellation: by the subscription returned, which must be kept.
    public func subscribe<E: Event>(
        to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        @_inheritActorContext onGap: (@isolated(any) @Sendable (Gap) -> Void)? = nil
    ) -> Subscription {
        // A handler that is on no actor goes where its gap handler has to be.
        if let actor = handler.isolation ?? onGap?.isolation {
            let body = add(
                E.self, .closures(on: actor), buffer, onActor(handler) { EventBox<E>.value(in: $0) },
                onGap.map { onActor($0) { $0 } })
            return Subscription(body)
        }
        let plain = unisolated(handler)
        return subscribe(delivery, buffer, plain, onGap.map(unisolated)) {
            plain($0.assumingMemoryBound(to: E.self).pointee)
        }
    }

    /// Calls `handler` where `delivery` says: `.immediate`, `.queue(_:)`, `.pollable(_:)`, `.background`, an actor.
    ///
    /// - Order: on a queue, actor or pollable target, that of `publish` across event types.
    /// - Loss: `onGap` is called in the place of what is missing, where the handler is.
    /// - Cancellation: by the subscription returned, which must be kept.
    @inlinable public func subscribe<E: Event>(
        to type: E.Type = E.self, delivery: DeliveryTarget, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (E) -> Void, onGap: (@Sendable (Gap) -> Void)? = nil
    ) -> Subscription {
        // Here and not below, so that it is specialised for E in the caller's module.
        subscribe(delivery, buffer, handler, onGap) { handler($0.assumingMemoryBound(to: E.self).pointee) }
    }

    // MARK: Streams

    /// The events of a type from this moment on, as a sequence.
    public func events<E: Event>(of type: E.Type = E.self, buffer: EventBuffer = .standard) -> EventStream<E> {
        let stream = StreamBuffer(buffer) { [weak self] in self?.remove($0) }
        change(E.self) { channel, _ in channel.add(stream) }
        return EventStream(stream) { EventBox<E>.value(in: $0) }
    }

    /// The events of a whole interface from this moment on, in their one order.
    public func events<I: EventInterface>(
        in interface: I.Type, buffer: EventBuffer = .standard
    ) -> EventStream<any DomainEvent> {
        let stream = StreamBuffer(buffer) { [weak self] in self?.remove($0) }
        add(stream, to: interface)
        // Only channels of domain events offer to this stream.
        return EventStream(stream) { $0.event as! any DomainEvent }
    }

    /// Sees every event at once, on the publishing thread, in each thread's order. For recorders and diagnostics.
    ///
    /// It is no interest: a relay fetches nothing for it.
    public func tap(_ handler: @escaping @Sendable (any Event) -> Void) -> Subscription {
        let tap = Tap(handler) { [weak self] tap in
            self?.state.withLock { state in state.taps.removeAll { $0 === tap } }
        }
        state.withLock { $0.taps.append(tap) }
        return Subscription(tap)
    }

    // MARK: Objects

    /// Subscribes an object, held weakly, to its type of event, on the actor that this is called on. Twice is once.
    ///
    /// Order, loss: see `EventSubscriber`. Ended by `unsubscribe(_:)` or by the object's release.
    public func subscribe<S: EventSubscriber>(
        _ subscriber: S, buffer: EventBuffer = .standard, isolation: isolated any Actor = #isolation
    ) {
        let weakly: WeakReference = WeakSubscriber(subscriber)
        addObject(
            weakly, subscriber, S.Subscribed.self, .object(subscriber, on: (subscriber as? any Actor) ?? isolation),
            buffer, .async { await weakly.deliver($0) }, .async { await weakly.deliver($0) })
    }

    /// Subscribes a sendable object, held weakly, to its type of event, where `delivery` says. Twice is once.
    ///
    /// An actor is called on itself. As `on` may await, `.immediate` cannot be had, and is `.background` here.
    public func subscribe<S: EventSubscriber & Sendable>(
        _ subscriber: S, delivery: DeliveryTarget, buffer: EventBuffer = .standard
    ) {
        let weakly: WeakReference = WeakSubscriber(subscriber)
        addObject(
            weakly, subscriber, S.Subscribed.self, .object(subscriber, delivery), buffer,
            .async { await weakly.deliver($0) }, .async { await weakly.deliver($0) })
    }

    /// Subscribes an object, held weakly, to one more type of event, with a handler on the actor it is written on, else
    /// where the publisher's delivery says (`.immediate` being `.background`). Once for each type.
    ///
    /// Order: with the closures on that actor or queue, that of `publish`. Loss: `onGap`, in the place of what is missing.
    public func subscribe<S: AnyObject & Sendable, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (S, E) -> Void,
        @_inheritActorContext onGap: (@isolated(any) @Sendable (S, Gap) -> Void)? = nil
    ) {
        let weakly = WeakReference(subscriber)
        if let actor = handler.isolation ?? onGap?.isolation {
            return addObject(
                weakly, subscriber, type, .closures(on: actor), buffer,
                .async { [weak subscriber] in
                    if let subscriber { await handler(subscriber, EventBox<E>.value(in: $0)) }
                },
                onGap.map { onGap in
                    .async { [weak subscriber] in if let subscriber { await onGap(subscriber, $0) } }
                })
        }
        let (plain, plainGap) = (unisolated(handler), onGap.map(unisolated))
        addObject(
            weakly, subscriber, type, .closures(delivery), buffer,
            .sync { [weak subscriber] in if let subscriber { plain(subscriber, EventBox<E>.value(in: $0)) } },
            plainGap.map { onGap in .sync { [weak subscriber] in if let subscriber { onGap(subscriber, $0) } } })
    }

    /// Subscribes an actor, held weakly, to one more type of event, with a handler isolated to it. Once for each type.
    ///
    /// Order: with the closures on that actor, that of `publish`. Loss: `onGap`, in the place of what is missing.
    public func subscribe<S: Actor, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (isolated S, E) -> Void,
        onGap: (@Sendable (isolated S, Gap) -> Void)? = nil
    ) {
        addObject(
            WeakReference(subscriber), subscriber, type, .closures(on: subscriber), buffer,
            .async { [weak subscriber] in if let subscriber { await handler(subscriber, EventBox<E>.value(in: $0)) } },
            onGap.map { onGap in .async { [weak subscriber] in if let subscriber { await onGap(subscriber, $0) } } })
    }

    /// Ends every subscription of an object. Its release does so too.
    public func unsubscribe(_ subscriber: AnyObject) {
        let ended = state.withLock { state in
            state.objects[ObjectIdentifier(subscriber)].map { Array($0.subscriptions.values) } ?? []
        }
        for body in ended { body.cancel() }
    }
}

/// Where domain code publishes: a unit of work, a publisher, a recording double.
public protocol EventSink: ~Copyable {
    /// Takes the event, or throws why it cannot.
    mutating func publish<E: DomainEvent>(_ event: E) throws
}
