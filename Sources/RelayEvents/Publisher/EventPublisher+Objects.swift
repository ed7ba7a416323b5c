/// Subscribers that are objects, held weakly.
extension EventPublisher {
    /// Subscribes an object, held weakly, to a type of event. Call it once for each type.
    ///
    /// ```swift
    /// publisher.subscribe(orderList, to: JobPrinted.self) { list, job in list.add(job) } onGap: { list, gap in list.show(gap) }
    /// ```
    ///
    /// - Order: that of `publish`, across the types that the object is subscribed to. The next event waits until the
    ///   handler has returned. The object has its own order: it delays no other subscriber, and none delays it.
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines
    ///   (``DeliveryTarget/immediate`` means ``DeliveryTarget/background``).
    /// - Loss: `onGap` is called in place of the missing events.
    /// - Cancellation: ``unsubscribe(_:)``, or the object's release. A second subscription of an object to one type
    ///   changes nothing.
    /// - Parameter subscriber: the object.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far it may fall behind.
    /// - Parameter handler: is called with the object and each event.
    /// - Parameter onGap: is called with the object and each gap.
    public func subscribe<S: AnyObject & Sendable, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (S, E) async -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (S, Gap) async -> Void
    ) {
        let actor = handler.isolation ?? onGap.isolation
        let weakly = Weakly(subscriber)
        addObject(
            WeakReference(subscriber), subscriber, type,
            actor.map { .object(subscriber, on: $0) } ?? .object(subscriber, delivery), buffer,
            .async { if let subscriber = weakly.object { await handler(subscriber, EventBox<E>.value(in: $0)) } },
            .async { if let subscriber = weakly.object { await onGap(subscriber, $0) } })
    }
    /// Subscribes an actor, held weakly, to a type of event, on itself. Call it once for each type.
    ///
    /// - Order: that of `publish`, across the types that the actor is subscribed to. The next event waits until the
    ///   handler has returned.
    /// - Isolation: the handler runs on the actor.
    /// - Loss: `onGap` is called in place of the missing events.
    /// - Cancellation: ``unsubscribe(_:)``, or the actor's release. A second subscription of an actor to one type
    ///   changes nothing.
    /// - Parameter subscriber: the actor.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far it may fall behind.
    /// - Parameter handler: is called with the actor and each event.
    /// - Parameter onGap: is called with the actor and each gap.
    public func subscribe<S: Actor, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (isolated S, E) async -> Void,
        onGap: @escaping @Sendable (isolated S, Gap) async -> Void
    ) {
        let weakly = Weakly(subscriber)
        addObject(
            WeakReference(subscriber), subscriber, type, .object(subscriber, on: subscriber), buffer,
            .async { if let subscriber = weakly.object { await handler(subscriber, EventBox<E>.value(in: $0)) } },
            .async { if let subscriber = weakly.object { await onGap(subscriber, $0) } })
    }
    /// Ends every subscription of an object, as its release does. A subscription is cancelled.
    ///
    /// - Parameter subscriber: the object.
    public func unsubscribe(_ subscriber: AnyObject) {
        if let subscription = subscriber as? Subscription { return subscription.cancel() }
        let ended = state.withLock { state in
            state.objects[ObjectIdentifier(subscriber)].map { Array($0.subscriptions.values) } ?? []
        }
        for body in ended { body.cancel() }
    }
}
