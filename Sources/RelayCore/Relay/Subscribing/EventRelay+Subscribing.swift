/// Subscriptions, live or from a position, to a type of event or to a whole interface.
extension EventRelay {
    /// Calls `handler` with each event, beginning at `start`; by default from now on.
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
    /// Code that knows no bus subscribes to live events at ``publisher``.
    ///
    /// - Order: that of the interface: first the journal's events, then the live ones, each once. There is no order
    ///   between two positioned subscriptions, or between a positioned subscription and the publisher's.
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines.
    /// - Loss: a gap stands in place of events that the journal no longer has, that a volatile interface lost, or that
    ///   cannot be decoded. If the buffer overflows, a subscription to a durable interface reads the dropped events
    ///   from the journal, without a gap; on a volatile interface, the buffer's policy applies. The subscription uses
    ///   the memory of two pages of the journal (256 KiB each), and of the buffered events.
    /// - Cancellation: by the subscription, which must be kept. After `cancel()` on the handler's own actor, the
    ///   handler is not called again. ``invalidate()`` ends the subscription at once; if the relay ends in another way,
    ///   the subscription first delivers the events that it holds. With `.resuming`, the position is written within 100
    ///   ms after the handler has returned, and at the end, so after a crash the last events come again. A notice
    ///   `.cursorFailed` reports that the position cannot be written.
    /// - Parameter type: the type of event, or the interface. A cursor of an interface covers all its events, including
    ///   those that a later version adds.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap, in its place. `{ _ in }` ignores them: ``Subscription/missed`` counts
    ///   the missing events.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for an event whose interface the relay was not made for, or that its contract lacks. For
    ///   `.resuming`: `.conflict` while the name is in use; `.invalidArgument` for a bad name, a damaged file, or one
    ///   that was made for other events; `.unavailable` or `.notPermitted` for a folder that cannot be used.
    public func subscribe<Followed: Subscribable>(
        to type: Followed.Type = Followed.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Followed) -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) -> Void
    ) throws -> Subscription {
        let source = try source(of: type, from: start, buffer)
        let route: DeliveryRoute?
        if let actor = handler.isolation ?? onGap.isolation {
            route = .closures(on: actor)
        } else if case .immediate = publisher.delivery.kind {
            route = nil
        } else {
            route = .closures(publisher.delivery)
        }
        let areApart = onGap.isolation.map { actor in handler.isolation.map { $0 !== actor } ?? false } ?? false
        let gapHandler: Handler<Gap> =
            areApart
            ? .async { [source = source.source] gap in
                await Self.call(onGap, gap, while: source, isolation: onGap.isolation)
            } : onActor(onGap) { $0 }
        let body = ReplayHandler(source.source, route, onActor(handler) { $0 }, gapHandler, maySuspend: areApart)
        handlers.add(body)
        body.begin()
        source.begin()
        return Subscription(body)
    }
    /// Calls a handler that may wait, and may throw, with each event: the next one waits until it has returned.
    ///
    /// ```swift
    /// let ledger = try relay.subscribe(to: JobPrinted.self, from: .resuming("ledger")) { job in
    ///     try await database.add(job)
    /// } onGap: { gap in
    ///     try await database.note(gap)
    /// }
    /// ```
    ///
    /// Each event is given to the handler until the handler has returned, and not again. With `.resuming`, the position
    /// passes an event only then. A handler that throws is called again with the same event after 0.1, 0.5, 2 and 8
    /// seconds. If it throws once more, the subscription ends before that event: ``run()`` throws the error,
    /// ``Subscription/failure`` has it, and a notice `.handlerFailed` reports it. The same holds for `onGap`.
    ///
    /// With `inOrderOf:`, several keys are handled at the same time, and each key's events in order:
    ///
    /// ```swift
    /// let mails = try relay.subscribe(to: OrderShipped.self, from: .resuming("mails"), inOrderOf: \.customerID) { order in
    ///     try await mail(order)
    /// } onGap: { gap in
    ///     try await note(gap)
    /// }
    /// ```
    ///
    /// Handlers that are isolated to no actor then run on threads of their own, several at a time. At most 64 events are
    /// handled, or wait for one of their key. The position is at the lowest event that is not handled: after a crash, later
    /// ones that were handled come again. A gap comes when everything before it was handled.
    ///
    /// In all other respects it works like the method for a handler that does not wait.
    ///
    /// - Isolation: on the actor that the handler is isolated to, otherwise where the publisher's delivery determines
    ///   (``DeliveryTarget/immediate`` means ``DeliveryTarget/background``). Its task is cancelled when the subscription
    ///   is: what it has not handled comes again.
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter key: what events have in common that must be handled in order; nil: all are.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap, in its place.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: as the method for a handler that does not wait.
    public func subscribe<Followed: Subscribable>(
        to type: Followed.Type = Followed.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        inOrderOf key: (@Sendable (Followed) -> any Hashable & Sendable)? = nil,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Followed) async throws -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) async throws -> Void
    ) throws -> Subscription {
        try subscribe(
            type, start, buffer, by: key, on: (handler.isolation, onGap.isolation), .init { try await handler($0.0) },
            .init { try await onGap($0) })
    }
    /// Calls a handler with each event and its place in the stream. It may wait, and may throw.
    ///
    /// In all other respects it works like the method for a handler that takes the event alone.
    ///
    /// ```swift
    /// let copy = try relay.subscribe(to: Orders1.self, from: last.map { .after($0) } ?? .beginning) { event, stamp in
    ///     try await database.apply(event, at: stamp)
    /// } onGap: { gap in
    ///     try await database.note(gap)
    /// }
    /// ```
    ///
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter key: what events have in common that must be handled in order; nil: all are.
    /// - Parameter handler: is called with each event and its stamp.
    /// - Parameter onGap: is called with each gap, in its place.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: as the method for a handler that does not wait.
    public func subscribe<Followed: Subscribable>(
        to type: Followed.Type = Followed.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        inOrderOf key: (@Sendable (Followed) -> any Hashable & Sendable)? = nil,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Followed, Stamp) async throws -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) async throws -> Void
    ) throws -> Subscription {
        try subscribe(
            type, start, buffer, by: key, on: (handler.isolation, onGap.isolation),
            .init { try await handler($0.0, $0.1) },
            .init { try await onGap($0) })
    }
    /// Does not compile: no relay brings this type.
    @available(
        *, unavailable,
        message:
            "a relay brings DomainEvents and EnumInterfaces: subscribe to its own events at relay.publisher, and make an interface an EnumInterface"
    )
    public func subscribe<Other>(
        to type: Other.Type, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Other) async throws -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) async throws -> Void
    ) throws -> Subscription { throw RelayError(.invalidArgument, "\(type) is not Subscribable") }
    private func subscribe<Followed: Subscribable>(
        _ type: Followed.Type, _ start: StreamPosition, _ buffer: EventBuffer,
        by key: (@Sendable (Followed) -> any Hashable & Sendable)?,
        on actors: (event: (any Actor)?, gap: (any Actor)?),
        _ handler: ThrowingHandler<(Followed, Stamp)>, _ onGap: ThrowingHandler<Gap>
    ) throws -> Subscription {
        let source = try source(of: type, from: start, buffer)
        guard let key else {
            let gapHandler = ThrowingHandler<Gap> { [source = source.source] gap in
                try await Self.call(onGap, gap, while: source, isolation: actors.gap)
            }
            return begin(
                AwaitedHandler(
                    source.source, (actors.event ?? actors.gap).map { .task(on: $0) } ?? .task(publisher.delivery),
                    retries: timing.handlerRetries, .one(handler, gapHandler), reporter(of: "\(type)")), source.begin)
        }
        return begin(
            KeyedHandler(
                source.source, on: actors, retries: timing.handlerRetries, by: key, handler, onGap,
                reporter(of: "\(type)")), source.begin)
    }
    // A gap's handler may be on an actor of its own. The look whether the subscription was cancelled is on that one, too:
    // what is cancelled there is not called there again.
    private static func call<Payload>(
        _ onGap: @isolated(any) @Sendable (Gap) -> Void, _ gap: Gap, while source: ReplaySource<Payload>,
        isolation: isolated (any Actor)?
    ) async {
        if !source.feed.isCancelled { await onGap(gap) }
    }
    private static func call<Payload>(
        _ onGap: ThrowingHandler<Gap>, _ gap: Gap, while source: ReplaySource<Payload>,
        isolation: isolated (any Actor)?
    ) async throws {
        guard !source.feed.isCancelled else { throw CancellationError() }
        try await onGap.call(gap)
    }
    private func begin(_ body: some TaskSubscription, _ beginSource: () -> Void) -> Subscription {
        handlers.add(body)
        body.begin()
        beginSource()
        return Subscription(body)
    }
    /// The events of a type or of an interface, beginning at `start`, as a sequence.
    ///
    /// ```swift
    /// for await delivery in try relay.events(of: Orders1.self, from: .beginning) { … }
    /// ```
    ///
    /// Order and loss are those of the method for a handler that does not wait. An event counts as
    /// handled when the next one is requested. The stream begins when it is created. When the relay ends, the stream
    /// yields the events that it holds, then ends.
    ///
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Returns: the stream.
    /// - Throws: as the method for a handler that does not wait.
    public func events<Followed: Subscribable>(
        of type: Followed.Type = Followed.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard
    ) throws -> EventStream<Followed> {
        let source = try source(of: type, from: start, buffer)
        return stream(of: source)
    }
    /// The events of an interface that need not be an enum of them.
    package func events<I: EventInterface>(
        in interface: I.Type, from start: StreamPosition = .now, buffer: EventBuffer = .standard
    ) throws -> EventStream<any StreamEntry> {
        try check(I.self, "\(I.name)")
        var decoders: [String: AnyEventDecoder] = [:]
        func add<E: StreamEntry>(_ type: E.Type) throws { decoders[E.name] = try EventDecoder(type) }
        for type in I.contract.events { try add(type) }
        let source = try follower.source(I.name, names: nil, from: start, buffer, ReplayDecoding(decoders))
        return stream(of: source)
    }
}

/// What a subscription takes its events from, and what begins to fill it.
typealias BegunSource<Payload: Sendable> = (source: ReplaySource<Payload>, begin: () -> Void)

extension EventRelay {
    func stream<Payload>(of source: BegunSource<Payload>) -> EventStream<Payload> {
        source.begin()
        return EventStream(ReplayStream(source.source))
    }
    func source<Followed: Subscribable>(
        of type: Followed.Type, from start: StreamPosition, _ buffer: EventBuffer,
        keptBy keeper: (any PositionKeeper)? = nil
    ) throws -> BegunSource<Followed> {
        func open<E: DomainEvent>(_ type: E.Type) throws -> BegunSource<Followed>? {
            cast(try source(event: type, from: start, buffer, keptBy: keeper))
        }
        func open<I: EnumInterface>(_ type: I.Type) throws -> BegunSource<Followed>? {
            cast(try source(in: type, from: start, buffer, keptBy: keeper))
        }
        // The same type under its own name.
        func cast<Payload>(_ source: BegunSource<Payload>) -> BegunSource<Followed>? {
            (source.source as? ReplaySource<Followed>).map { ($0, source.begin) }
        }
        if let event = type as? any DomainEvent.Type, let source = try open(event) { return source }
        if let interface = type as? any EnumInterface.Type, let source = try open(interface) { return source }
        throw RelayError(
            .invalidArgument, "\(type) is Subscribable alone: make it a DomainEvent, or an EnumInterface")
    }
    func source<E: StreamEntry>(
        event type: E.Type, from start: StreamPosition, _ buffer: EventBuffer,
        keptBy keeper: (any PositionKeeper)? = nil
    ) throws -> BegunSource<E> {
        guard E.Interface.contract.events.contains(where: { ObjectIdentifier($0) == ObjectIdentifier(type) }) else {
            throw unlisted(E.Interface.self, E.name)
        }
        try check(E.Interface.self, E.name)
        return try follower.source(
            E.Interface.name, names: [E.name], from: start, buffer, ReplayDecoding(EventDecoder(type)), keptBy: keeper)
    }
    func source<I: EnumInterface>(
        in interface: I.Type, from start: StreamPosition, _ buffer: EventBuffer,
        keptBy keeper: (any PositionKeeper)? = nil
    ) throws -> BegunSource<I> {
        try check(I.self, I.name)
        return try follower.source(
            I.name, names: nil, from: start, buffer, ReplayDecoding(of: I.self), keptBy: keeper)
    }
}
