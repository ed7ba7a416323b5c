/// Subscriptions to a whole interface, and those of objects.
extension EventRelay {
    /// Calls `handler` with all events of an interface, in the interface's order.
    ///
    /// ```swift
    /// let subscription = try relay.subscribe(to: Orders1.self, from: .beginning) { event in
    ///     switch event {
    ///     case .placed(let order): add(order)
    ///     case .shipped(let order): mark(order)
    ///     }
    /// } onGap: { gap in
    ///     show(gap)
    /// }
    /// ```
    ///
    /// In all other respects it works like ``subscribe(to:from:buffer:_:onGap:)``. A cursor covers all events of the
    /// interface, including those that a later version adds.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: as ``subscribe(to:from:buffer:_:onGap:)``.
    public func subscribe<I: EnumInterface>(
        to interface: I.Type, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (I) -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) -> Void
    ) throws -> Subscription { try subscribe(interface, start, buffer, handler, onGap) }
    /// Calls `handler` with all events of an interface, and ignores gaps.
    ///
    /// Only ``Subscription/missed`` counts the missing events. Order, isolation and cancellation are those of the
    /// subscription with `onGap`.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter onGap: `.ignore`.
    /// - Parameter handler: is called with each event.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: as ``subscribe(to:from:buffer:_:onGap:)``.
    public func subscribe<I: EnumInterface>(
        to interface: I.Type, from start: StreamPosition = .now, buffer: EventBuffer = .standard, onGap: GapHandling,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (I) -> Void
    ) throws -> Subscription { try subscribe(interface, start, buffer, handler, nil) }
    private func subscribe<I: EnumInterface>(
        _ interface: I.Type, _ start: StreamPosition, _ buffer: EventBuffer,
        _ handler: @escaping @isolated(any) @Sendable (I) -> Void,
        _ onGap: (@isolated(any) @Sendable (Gap) -> Void)?
    ) throws -> Subscription {
        let source = try source(in: interface, from: start, buffer)
        return deliver(source.source, begin: source.begin, handler, onGap)
    }
    /// All events of an interface, beginning at `start`, as a sequence of the interface's values.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Returns: the stream.
    /// - Throws: as ``subscribe(to:from:buffer:_:onGap:)``.
    public func events<I: EnumInterface>(
        of interface: I.Type, from start: StreamPosition = .now, buffer: EventBuffer = .standard
    ) throws -> EventStream<I> {
        let source = try source(in: interface, from: start, buffer)
        source.begin()
        return EventStream(ReplayStream(source.source))
    }

    // MARK: Objects

    /// Subscribes an object, held weakly, to all events of an interface, on the actor that this is called on.
    ///
    /// ```swift
    /// @MainActor final class OrderList: EventSubscriber {
    ///     func on(_ event: Orders1) { … }
    ///     func onGap(_ gap: Gap) { … }
    /// }
    /// try relay.subscribe(orderList, to: Orders1.self, from: .beginning)
    /// ```
    ///
    /// - Order: that of the interface, in the object's own queue. The next event waits until `on(_:)` has returned.
    /// - Isolation: the caller's actor; an actor is called on itself.
    /// - Loss: as with ``subscribe(to:from:buffer:_:onGap:)``; `onGap(_:)` is called in place of the missing events.
    /// - Cancellation: ``unsubscribe(_:)``, the object's release, or the relay's end.
    /// - Parameter subscriber: the object.
    /// - Parameter interface: the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter isolation: the actor; the caller's unless given.
    /// - Throws: `.conflict` if the object is already subscribed to the interface. Otherwise as
    ///   ``subscribe(to:from:buffer:_:onGap:)``.
    public func subscribe<S: EventSubscriber>(
        _ subscriber: S, to interface: S.Subscribed.Type, from start: StreamPosition = .now,
        buffer: EventBuffer = .standard, isolation: isolated any Actor = #isolation
    ) throws where S.Subscribed: EnumInterface {
        let source = try source(in: interface, from: start, buffer)
        try subscribe(subscriber, source, on: (subscriber as? any Actor) ?? isolation)
    }
    /// Subscribes an object, held weakly, to one type of event, on the actor that this is called on.
    ///
    /// - Cancellation: ``EventRelay/unsubscribe(_:)``, the object's release, or the relay's end.
    /// - Parameter subscriber: the object.
    /// - Parameter type: the type of event.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter isolation: the actor; the caller's unless given.
    /// - Throws: `.conflict` if the object is already subscribed to the type. Otherwise as
    ///   ``subscribe(to:from:buffer:_:onGap:)``.
    public func subscribe<S: EventSubscriber>(
        _ subscriber: S, to type: S.Subscribed.Type, from start: StreamPosition = .now,
        buffer: EventBuffer = .standard, isolation: isolated any Actor = #isolation
    ) throws where S.Subscribed: DomainEvent {
        let source = try source(of: type, from: start, buffer)
        try subscribe(subscriber, source, on: (subscriber as? any Actor) ?? isolation)
    }
    /// Ends all subscriptions of an object at this relay, as the object's release does.
    ///
    /// - Parameter subscriber: the object.
    public func unsubscribe(_ subscriber: AnyObject) { objects.remove(subscriber) }

    private func subscribe<S: EventSubscriber>(
        _ subscriber: S, _ source: (source: ReplaySource<S.Subscribed>, begin: () -> Void), on actor: any Actor
    ) throws {
        let weakly: WeakReceiver<S.Subscribed> = WeakSubscriber(subscriber)
        let feed = source.source
        let body = ReplayHandler(
            feed, .object(subscriber, on: actor),
            .async { if await !weakly.deliver($0) { feed.cancel() } },
            .async { if await !weakly.deliver($0) { feed.cancel() } }, maySuspend: true)
        do throws(RelayError) { try objects.add(body, of: weakly, to: S.Subscribed.self) } catch {
            // Also frees the cursor's name.
            feed.cancel()
            throw error
        }
        handlers.add(body)
        body.begin()
        source.begin()
    }
    func source<I: EnumInterface>(
        in interface: I.Type, from start: StreamPosition, _ buffer: EventBuffer
    ) throws -> (source: ReplaySource<I>, begin: () -> Void) {
        try check(I.self, I.name)
        return try follower.source(I.name, names: nil, from: start, buffer, ReplayDecoding(of: I.self))
    }
}
