/// Subscribers that are objects, held weakly.
extension EventPublisher {
    /// Subscribes an object, held weakly, on the actor that this is called on.
    ///
    /// An object that is subscribed twice is one subscriber. Order and loss: see ``EventSubscriber``.
    ///
    /// - Cancellation: ``unsubscribe(_:)``, or the object's release.
    /// - Parameter subscriber: the object.
    /// - Parameter buffer: how far it may fall behind.
    /// - Parameter isolation: the actor; the caller's unless given.
    public func subscribe<S: EventSubscriber>(
        _ subscriber: S, buffer: EventBuffer = .standard, isolation: isolated any Actor = #isolation
    ) where S.Subscribed: Event {
        let weakly: WeakReceiver<S.Subscribed> = WeakSubscriber(subscriber)
        addObject(
            weakly, subscriber, S.Subscribed.self, .object(subscriber, on: (subscriber as? any Actor) ?? isolation),
            buffer, .async { _ = await weakly.deliver(EventBox<S.Subscribed>.value(in: $0)) },
            .async { _ = await weakly.deliver($0) })
    }

    /// Subscribes a sendable object, held weakly, on a delivery target.
    ///
    /// An object that is subscribed twice is one subscriber. An actor is called on itself. Because `on(_:)` may await,
    /// ``DeliveryTarget/immediate`` means ``DeliveryTarget/background`` here.
    ///
    /// - Cancellation: ``unsubscribe(_:)``, or the object's release.
    /// - Parameter subscriber: the object.
    /// - Parameter delivery: where it is called.
    /// - Parameter buffer: how far it may fall behind.
    public func subscribe<S: EventSubscriber & Sendable>(
        _ subscriber: S, delivery: DeliveryTarget, buffer: EventBuffer = .standard
    ) where S.Subscribed: Event {
        let weakly: WeakReceiver<S.Subscribed> = WeakSubscriber(subscriber)
        addObject(
            weakly, subscriber, S.Subscribed.self, .object(subscriber, delivery), buffer,
            .async { _ = await weakly.deliver(EventBox<S.Subscribed>.value(in: $0)) },
            .async { _ = await weakly.deliver($0) })
    }

    /// Subscribes an object, held weakly, to one more type of event. Call it once for each type.
    ///
    /// The handler runs on the actor that it is isolated to, otherwise where the publisher's delivery determines
    /// (``DeliveryTarget/immediate`` means ``DeliveryTarget/background``).
    ///
    /// - Order: that of `publish`, with the closures on that actor or queue.
    /// - Loss: `onGap` is called in place of the missing events.
    /// - Cancellation: ``unsubscribe(_:)``, or the object's release.
    /// - Parameter subscriber: the object.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far it may fall behind.
    /// - Parameter handler: is called with the object and each event.
    /// - Parameter onGap: is called with the object and each gap.
    public func subscribe<S: AnyObject & Sendable, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (S, E) -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (S, Gap) -> Void
    ) { subscribe(subscriber, type, buffer, handler, onGap) }
    /// Subscribes an object, held weakly, to one more type of event, and ignores gaps.
    ///
    /// - Order: that of `publish`, with the closures on that actor or queue.
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines.
    /// - Loss: events for which the buffer has no room are dropped.
    /// - Cancellation: ``unsubscribe(_:)``, or the object's release.
    /// - Parameter subscriber: the object.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far the subscription may fall behind.
    /// - Parameter onGap: `.ignore`.
    /// - Parameter handler: is called with the object and each event.
    public func subscribe<S: AnyObject & Sendable, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard, onGap: GapHandling,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (S, E) -> Void
    ) { subscribe(subscriber, type, buffer, handler, nil) }
    private func subscribe<S: AnyObject & Sendable, E: Event>(
        _ subscriber: S, _ type: E.Type, _ buffer: EventBuffer,
        _ handler: @escaping @isolated(any) @Sendable (S, E) -> Void,
        _ onGap: (@isolated(any) @Sendable (S, Gap) -> Void)?
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

    /// Subscribes an actor, held weakly, to one more type of event. Call it once for each type.
    ///
    /// - Order: that of `publish`, with the closures on that actor.
    /// - Isolation: the handler runs on the actor.
    /// - Loss: `onGap` is called in place of the missing events.
    /// - Cancellation: ``unsubscribe(_:)``, or the actor's release.
    /// - Parameter subscriber: the actor.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far it may fall behind.
    /// - Parameter handler: is called with the actor and each event.
    /// - Parameter onGap: is called with the actor and each gap.
    public func subscribe<S: Actor, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (isolated S, E) -> Void,
        onGap: @escaping @Sendable (isolated S, Gap) -> Void
    ) { subscribe(subscriber, type, buffer, handler, onGap) }
    /// Subscribes an actor, held weakly, to one more type of event, and ignores gaps.
    ///
    /// - Order: that of `publish`, with the closures on that actor.
    /// - Isolation: the handler runs on the actor.
    /// - Loss: events for which the buffer has no room are dropped.
    /// - Cancellation: ``unsubscribe(_:)``, or the actor's release.
    /// - Parameter subscriber: the actor.
    /// - Parameter type: the type of event.
    /// - Parameter buffer: how far the subscription may fall behind.
    /// - Parameter onGap: `.ignore`.
    /// - Parameter handler: is called with the actor and each event.
    public func subscribe<S: Actor, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard, onGap: GapHandling,
        _ handler: @escaping @Sendable (isolated S, E) -> Void
    ) { subscribe(subscriber, type, buffer, handler, nil) }
    private func subscribe<S: Actor, E: Event>(
        _ subscriber: S, _ type: E.Type, _ buffer: EventBuffer,
        _ handler: @escaping @Sendable (isolated S, E) -> Void, _ onGap: (@Sendable (isolated S, Gap) -> Void)?
    ) {
        addObject(
            WeakReference(subscriber), subscriber, type, .closures(on: subscriber), buffer,
            .async { [weak subscriber] in if let subscriber { await handler(subscriber, EventBox<E>.value(in: $0)) } },
            onGap.map { onGap in .async { [weak subscriber] in if let subscriber { await onGap(subscriber, $0) } } })
    }

    /// Ends every subscription of an object, as its release does.
    ///
    /// - Parameter subscriber: the object.
    public func unsubscribe(_ subscriber: AnyObject) {
        let ended = state.withLock { state in
            state.objects[ObjectIdentifier(subscriber)].map { Array($0.subscriptions.values) } ?? []
        }
        for body in ended { body.cancel() }
    }
}
