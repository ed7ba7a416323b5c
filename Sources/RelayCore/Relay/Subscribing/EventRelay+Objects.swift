/// Subscribers that are objects, held weakly.
extension EventRelay {
    /// Subscribes an object, held weakly, to a type of event or to an interface.
    ///
    /// ```swift
    /// try relay.subscribe(orderList, to: Orders1.self, from: .beginning) { list, event in
    ///     list.apply(event)
    /// } onGap: { list, gap in
    ///     list.show(gap)
    /// }
    /// ```
    ///
    /// The handler may wait, and may throw, as with the method for a closure that waits.
    ///
    /// - Order: that of the interface. The next event waits until the handler has returned. Each subscription of an object
    ///   has its own order.
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines.
    /// - Loss: as with any subscription; `onGap` is called in place of the missing events.
    /// - Cancellation: ``unsubscribe(_:)``, the object's release, which a notice `.subscriberReleased` reports once for its
    ///   type, or the relay's end.
    /// - Parameter subscriber: the object.
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter handler: is called with the object and each event.
    /// - Parameter onGap: is called with the object and each gap.
    /// - Throws: `.conflict` if the object is already subscribed to that type. Otherwise as the
    ///   method for a handler that does not wait.
    public func subscribe<S: AnyObject & Sendable, Followed: Subscribable>(
        _ subscriber: S, to type: Followed.Type = Followed.self, from start: StreamPosition = .now,
        buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (S, Followed) async throws -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (S, Gap) async throws -> Void
    ) throws {
        let (actor, weakly) = (handler.isolation ?? onGap.isolation, Weakly(subscriber))
        try subscribe(
            subscriber, type, start, buffer, actor.map { .task(on: $0) } ?? .task(publisher.delivery),
            .init { try await handler(weakly.held(), $0.0) },
            .init { try await onGap(weakly.held(), $0) })
    }
    /// Subscribes an actor, held weakly, to a type of event or to an interface, on itself.
    ///
    /// In all other respects it works like the method for an object.
    ///
    /// - Isolation: the handler runs on the actor.
    /// - Parameter subscriber: the actor.
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter handler: is called with the actor and each event.
    /// - Parameter onGap: is called with the actor and each gap.
    /// - Throws: `.conflict` if the actor is already subscribed to that type. Otherwise as the method for an object.
    public func subscribe<S: Actor, Followed: Subscribable>(
        _ subscriber: S, to type: Followed.Type = Followed.self, from start: StreamPosition = .now,
        buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (isolated S, Followed) async throws -> Void,
        onGap: @escaping @Sendable (isolated S, Gap) async throws -> Void
    ) throws {
        let weakly = Weakly(subscriber)
        try subscribe(
            subscriber, type, start, buffer, .task(on: subscriber),
            .init { try await handler(weakly.held(), $0.0) },
            .init { try await onGap(weakly.held(), $0) })
    }
    /// Ends all subscriptions of an object at this relay and at its ``publisher``, as the object's release does. A
    /// subscription is cancelled.
    ///
    /// - Parameter subscriber: the object.
    public func unsubscribe(_ subscriber: AnyObject) {
        objects.remove(subscriber)
        publisher.unsubscribe(subscriber)
    }

    private func subscribe<S: AnyObject, Followed: Subscribable>(
        _ subscriber: S, _ type: Followed.Type, _ start: StreamPosition, _ buffer: EventBuffer, _ route: DeliveryRoute,
        _ handler: ThrowingHandler<(Followed, Stamp)>, _ onGap: ThrowingHandler<Gap>
    ) throws {
        let source = try source(of: type, from: start, buffer)
        let object = WeakReference(subscriber)
        let body = AwaitedHandler(
            source.source, route, retries: timing.handlerRetries, .one(handler, onGap),
            reporter(of: "\(type)", for: object))
        do throws(RelayError) { try objects.add(body, of: object, to: type) } catch {
            // Also frees the cursor's name.
            source.source.cancel()
            throw error
        }
        handlers.add(body)
        body.begin()
        source.begin()
    }
}
