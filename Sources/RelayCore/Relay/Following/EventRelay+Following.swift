extension EventRelay {
    /// Follows a state: calls `state` with the reply to a query, then `change` with each event that came after it.
    ///
    /// ```swift
    /// let following = try relay.follow(Orders1.self, asking: ListOrders()) { [weak self] reply in
    ///     self?.orders = reply.orders
    /// } then: { [weak self] event in
    ///     self?.apply(event)
    /// } onFailure: { [weak self] error in
    ///     self?.trouble = error.message
    /// }
    /// ```
    ///
    /// - Order: a state, then the events after the sequence that it names, each once, in the order of the interface.
    ///   After a gap, or when a new run of the service begins, a new state comes first. So no event is applied to a
    ///   state that lacks an earlier event.
    /// - Isolation: on the actor that `state` is isolated to, otherwise where the publisher's delivery determines.
    /// - Loss: after a gap, the next state includes the missing events. While the service is away, the last state
    ///   remains valid; ``states`` reports the absence. The interface must be durable, so that a query can read the
    ///   state and its position in one transaction.
    /// - Cancellation: by the subscription, which must be kept, and by the relay's end. After `cancel()` on the
    ///   handlers' own actor, no handler is called again.
    /// - Parameter interface: the interface.
    /// - Parameter query: the command that requests the state, at the start and after each gap. It must change nothing,
    ///   and its reply must name the position at which the state was read (`JournalSnapshot.position(of:)`).
    /// - Parameter buffer: how many events are held while the query runs. Beyond that, they are read again.
    /// - Parameter state: is called with each state, which replaces the previous one.
    /// - Parameter change: is called with each event that applies to the last state.
    /// - Parameter onFailure: is called when the query fails, once for consecutive failures with the same code. As long
    ///   as the subscription lives, the relay retries the query after two seconds at most. A reply that names another
    ///   run than the service's present one is also a failure: `.conflict`.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for an interface that the relay was not made for.
    public func follow<I: EnumInterface, Query: Command<I>>(
        _ interface: I.Type, asking query: Query, buffer: EventBuffer = .standard,
        @_inheritActorContext _ state: @escaping @isolated(any) @Sendable (Query.Reply) -> Void,
        @_inheritActorContext then change: @escaping @isolated(any) @Sendable (I) -> Void,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription where I.Durability == Durable, Query.Reply: SnapshotReply, Query.Refusal == Never {
        let (route, maySuspend) = route(of: [state.isolation, change.isolation, onFailure.isolation])
        return Subscription(
            try follow(
                buffer, route, onActor(state) { $0 }, onActor(change) { (event: (I, Stamp)) in event.0 },
                onActor(onFailure) { $0 }, maySuspend: maySuspend
            ) { relay in
                let reply: Query.Reply = try await relay.call(query, timeout: relay.timing.query)
                return .init(epoch: reply.epoch, sequence: reply.sequence, state: reply)
            })
    }
    /// Follows a state that comes in pages: calls `state` with all pages, in order, then `change` with each event after
    /// the first page.
    ///
    /// Order, isolation, loss and cancellation are those of ``follow(_:asking:buffer:_:then:onFailure:)``.
    ///
    /// Later pages already include some of these events. So `change` gets each event's stamp; compare it with the
    /// position of the page that the event concerns.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter query: the command that requests the first page.
    /// - Parameter buffer: how many events are held while the pages come. Beyond that, they are read again.
    /// - Parameter state: is called with all pages, which replace the previous ones.
    /// - Parameter change: is called with each event after the first page.
    /// - Parameter onFailure: is called when a query fails, once for consecutive failures with the same code. The relay
    ///   then requests the first page again.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for an interface that the relay was not made for.
    public func follow<I: EnumInterface, Query: PagedQuery<I>>(
        _ interface: I.Type, pages query: Query, buffer: EventBuffer = .standard,
        @_inheritActorContext _ state: @escaping @isolated(any) @Sendable ([Query.Reply]) -> Void,
        @_inheritActorContext then change: @escaping @isolated(any) @Sendable (I, Stamp) -> Void,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription where I.Durability == Durable {
        let (route, maySuspend) = route(of: [state.isolation, change.isolation, onFailure.isolation])
        let onEvent: Handler<(I, Stamp)>
        if change.isolation != nil {
            onEvent = .async { await change($0.0, $0.1) }
        } else {
            let plain = unisolated(change)
            onEvent = .sync { plain($0.0, $0.1) }
        }
        return Subscription(
            try follow(
                buffer, route, onActor(state) { $0 }, onEvent, onActor(onFailure) { $0 }, maySuspend: maySuspend
            ) { relay in try await relay.pages(of: query) })
    }
    /// All pages of a state, as a snapshot of the first one's moment.
    func pages<I: EnumInterface, Query: PagedQuery<I>>(
        of query: Query
    ) async throws -> SnapshotFollower<I, [Query.Reply]>.Snapshot {
        let pages = try await allPages(of: query) { page in try await call(page, timeout: timing.query) }
        return .init(epoch: pages[0].epoch, sequence: pages[0].sequence, state: pages)
    }
    /// Where handlers are called that are isolated like this, and whether one of them has to be waited for.
    func route(of isolations: [(any Actor)?]) -> (DeliveryRoute, maySuspend: Bool) {
        let actors = isolations.compactMap(\.self)
        let route = actors.first.map { .closures(on: $0) } ?? DeliveryRoute.task(publisher.delivery)
        return (route, actors.contains { $0 !== actors[0] })
    }
    func follow<I: EnumInterface, State: Sendable>(
        _ buffer: EventBuffer, _ route: DeliveryRoute, _ onState: Handler<State>, _ onEvent: Handler<(I, Stamp)>,
        _ onFailure: Handler<RelayError>, maySuspend: Bool,
        asking ask: @escaping @Sendable (EventRelay) async throws -> SnapshotFollower<I, State>.Snapshot
    ) throws -> SnapshotFollower<I, State> {
        let source = try source(in: I.self, from: .now, buffer)
        let feed = source.source.feed
        let body = SnapshotFollower<I, State>(
            source.source, route, timing,
            asking: { [weak self] in
                guard let self else { throw RelayError(.unavailable, "the relay has ended") }
                let snapshot = try await ask(self)
                // The events behind it would be taken for those of an earlier run, and dropped without a word.
                if let run = follower.core.streams.run(of: I.name, feed), run != snapshot.epoch {
                    throw RelayError(
                        .conflict,
                        "\(I.name): the reply names run \(snapshot.epoch), and the events are of run \(run): reply with "
                            + "the epoch and the sequence of the snapshot that the state was read from")
                }
                return snapshot
            }, onState: onState, onEvent: onEvent, onFailure: onFailure, maySuspend: maySuspend)
        handlers.add(body)
        source.begin()
        body.start()
        return body
    }
}

/// Of one state that is followed.
let mostPages = 65_536

/// All pages of a state, of one run of its service; one at least.
func allPages<Query: PagedQuery>(
    of query: Query, asking ask: (Query) async throws -> Query.Reply
) async throws -> [Query.Reply] {
    let name = Query.Interface.name
    var (pages, last) = ([try await ask(query)], query)
    while let next = last.next(after: pages[pages.count - 1]) {
        // Each may be the same one: only the query knows.
        if pages.count == mostPages {
            throw RelayError(.tooLarge, "\(name): \(Query.name) has more than \(mostPages) pages: make them larger")
        }
        let page = try await ask(next)
        if page.epoch != pages[0].epoch {
            throw RelayError(.unavailable, "\(name): the service restarted between two pages of \(Query.name)")
        }
        pages.append(page)
        last = next
    }
    return pages
}

extension FollowedStreams {
    /// The run whose events a positioned subscription has now; nil while that is not known.
    fileprivate func run(of interface: String, _ feed: ReplayBuffer) -> UInt64? {
        loop.withTurn { self[interface]?.members.first { $0.feed === feed }?.machine.ownerEpoch }
    }
}
