/// The front end: follows a service's name, and feeds a local publisher with its events.
///
/// - Order: the events of one interface come in the order of their publication, whatever brought them: its ring, signals or the
///   journal; a reply comes after the events that the service published before it, those that have to be read included, as long
///   as the call's timeout lasts; a `State` comes after the events that preceded it, on the same actor or queue. Subscriptions
///   made here, with a position, have an order of their own.
/// - Isolation: as with any `EventPublisher`. `.immediate` handlers run on one of the relay's two threads, the bus's or the
///   rings', never on both at once, and must not block there. They may use the relay as they like, and end it.
/// - Loss: a subscriber that is slower than the ring is long is lapped, and what did not arrive of a durable interface is read from the service's journal; what cannot be read, and everything
///   that a volatile one lost, is a `Gap` in its place. Where a buffer of the publisher's subscriptions overflows is a gap, too;
///   a subscription with a position reads a durable interface again instead. An event counts only from the verified owner of
///   the service's name.
/// - Cancellation: `invalidate()`, or release.
public final class EventRelay: Sendable {
    /// An ordinary publisher. Subscribe here as to any other: code that does so need not know of the bus. What is published
    /// here by hand stays in this process.
    public let publisher: EventPublisher
    /// The bus name that is followed.
    public let service: String
    let follower: ServiceFollower
    private let receivers: RelayReceivers
    private let interfaces: [String: any EventInterface.Type]
    private let commands: [ObjectIdentifier: any RelayCommandCodec]

    /// Prepares to follow a service. Nothing happens before `activate()`, so that the first subscriptions miss nothing.
    ///
    /// - Parameters:
    ///   - service: the bus name, which need not have an owner yet.
    ///   - interfaces: those whose events and commands are used here.
    ///   - delivery: where handlers run that are on no actor.
    ///   - requirement: whom the service's owner must be, to be believed.
    ///   - activation: whether the bus is asked to start an absent service.
    ///   - cursors: the folder in which `.resuming` keeps how far subscribers have come; nil stands for `relay/cursors` in
    ///     `XDG_STATE_HOME`, else in `~/.local/state`. It is made when it is first needed, for its user alone.
    /// - Throws: `UnsupportedType` with type, field and reason for what D-Bus cannot carry; `InvalidArgument` for a name that
    ///   is none.
    public convenience init(
        following service: String, on bus: Bus = .session, interfaces: any EventInterface.Type...,
        delivery: DeliveryTarget = .background, requiring requirement: PeerRequirement = .anyone,
        activation: Activation = .onDemand, cursors: String? = nil
    ) throws {
        try self.init(service, bus, interfaces, delivery, requirement, activation, cursors, .none)
    }
    /// With faults for tests of its cursors.
    package convenience init(
        following service: String, on bus: Bus, interfaces: any EventInterface.Type..., cursors: String,
        faults: CursorFaults
    ) throws {
        try self.init(service, bus, interfaces, .background, .anyone, .onDemand, cursors, faults)
    }
    private init(
        _ service: String, _ bus: Bus, _ interfaces: [any EventInterface.Type], _ delivery: DeliveryTarget,
        _ requirement: PeerRequirement, _ activation: Activation, _ cursors: String?, _ faults: CursorFaults
    ) throws {
        var contract = RelayContract()
        for interface in interfaces { try contract.add(interface) }
        let interests = RelayInterests(contract.interests)
        self.service = service
        commands = contract.commands
        self.interfaces = contract.interfaces
        let publisher = EventPublisher(delivery: delivery, interest: interests)
        self.publisher = publisher
        receivers = RelayReceivers(publisher, contract.receivers, contract.interfaces)
        follower = try ServiceFollower(
            service: service, on: bus, requiring: requirement, activation: activation, durable: contract.durable,
            cursors: cursors, faults: faults,
            onCursorFailure: { [weak publisher] name, error in
                publisher?.publish(CursorFailure(name: name, error: error))
            }, sink: receivers)
        interests.start(follower)
    }
    deinit { receivers.finish() }

    /// Connects, and goes on doing so: from before the service exists, through its restarts and the bus's.
    public func activate() { follower.activate() }
    /// Ends the relay: waiting commands fail with `Unavailable`, and no event, gap or state comes from the bus any more.
    ///
    /// From any thread; does not wait. When it returns, the publisher gets nothing further, but for one event that the bus's
    /// thread is handing over at that very moment; if that is an `.immediate` handler, it may still run. What buffers hold
    /// by then is still delivered where it belongs: cancel a subscription to end that, too. Events that are published by
    /// hand still go their way.
    public func invalidate() {
        follower.invalidate()
        receivers.finish()
    }

    /// How the connection fares: the present state, then every change. Ends after `invalidated`, or with the relay.
    ///
    /// A slow reader misses states from the oldest on (it holds 64). To see states in order with events, subscribe to `State`
    /// as to any event of `publisher`.
    public var states: AsyncStream<State> { receivers.states() }

    /// Signals of the service's interfaces that came from somebody else than its owner, and were dropped.
    public var foreignSignals: Int { follower.foreignSignals }

    // MARK: Commands

    /// Sends a command once, and waits for its answer.
    ///
    /// From `activate()` until the first attempt to connect has ended, and while the service's owner is looked up, it waits,
    /// within the timeout. An attempt that fails ends all calls that wait, at once, with `Unavailable`: nothing has run, and
    /// the relay goes on trying. Once it was connected, a call while the bus is gone ends at once, too. On the bus, an absent
    /// service is started by the call if it can be; else the call ends with `Unavailable`.
    ///
    /// - Throws: `.refused` with what the command declares; `.relay` for everything else: `Unavailable` when there is no
    ///   service or it left, `TimedOut`, `NotPermitted`, `SchemaMismatch`, `Cancelled`. Its `mayHaveRun` is false only when the
    ///   command certainly did not run.
    public func call<C: Command>(_ command: C, timeout: Duration = .seconds(25)) async throws(CommandError<C.Failure>)
        -> C.Reply
    {
        try await send(command, timeout)
    }
    /// As above, for a command that declares no failure: throws a plain `RelayError`, so that `catch .unavailable` matches it.
    public func call<C: Command>(_ command: C, timeout: Duration = .seconds(25)) async throws -> C.Reply
    where C.Failure == Never {
        do throws(CommandError<Never>) {
            return try await send(command, timeout)
        } catch {
            switch error {
            case .relay(let error): throw error
            }
        }
    }
    /// As above, for a command without a reply.
    public func call<C: Command>(_ command: C, timeout: Duration = .seconds(25)) async throws(CommandError<C.Failure>)
    where C.Reply == NoReply {
        _ = try await send(command, timeout)
    }
    /// As above, for a command without a reply and without a failure of its own.
    public func call<C: Command>(_ command: C, timeout: Duration = .seconds(25)) async throws
    where C.Reply == NoReply, C.Failure == Never {
        let _: C.Reply = try await call(command, timeout: timeout)
    }

    // MARK: Subscriptions that start elsewhere than now

    /// Calls `handler` with each event of a type, from `start` on: on the actor it is written on, else where the publisher's
    /// delivery says. `publisher.subscribe(to:)` is for events from now on.
    ///
    /// - Order: that of the interface, first the journal's events, then the live ones, each once. Two positioned
    ///   subscriptions have no order between them, nor with the publisher's.
    /// - Loss: what the journal no longer has is a gap in its place, as is everything that came while nobody listened on a
    ///   volatile interface. When the subscriber is slower than its buffer is long, a durable interface is read again from
    ///   there, without a gap; on a volatile one the buffer's rule holds. An event whose present or former schema cannot be
    ///   read is a gap of its own.
    /// - Memory: two pages of the journal (256 KiB each), and the buffer's limit of events.
    /// - Cancellation: by the subscription returned, which must be kept; after `cancel()` on the handler's own actor no call
    ///   comes. The relay's end ends it, after what it holds.
    /// - Cursors: with `.resuming`, the place is advanced after the handler has returned, and written within 100 ms and at
    ///   the end: after a crash the last events come again. `CursorFailure` tells when it cannot be written.
    /// - Throws: `NotFound` for an event that is of no interface of this relay. For `.resuming`: `Conflict` while another
    ///   subscription, process or relay uses the name; `InvalidArgument` for a name or a file that is none, or one that was
    ///   made for other events; `Unavailable` or `NotPermitted` for a folder that cannot be used.
    public func subscribe<E: DomainEvent>(
        to type: E.Type = E.self, from start: StreamPosition, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        @_inheritActorContext onGap: (@isolated(any) @Sendable (Gap) -> Void)? = nil
    ) throws -> Subscription {
        let route: DeliveryRoute?
        if let actor = handler.isolation ?? onGap?.isolation {
            route = .closures(on: actor)
        } else if case .immediate = publisher.delivery.kind {
            route = nil
        } else {
            route = .closures(publisher.delivery)
        }
        let source = try source(of: type, from: start, buffer)
        let body = ReplayHandler(
            source.source, route, onActor(handler) { $0 }, onGap.map { onGap in onActor(onGap) { $0 } })
        body.start()
        source.begin()
        return Subscription(body)
    }
    /// The events of a type from `start` on, as a sequence.
    ///
    /// Order, loss, memory and what is thrown: as above. An event counts as handled when the next one is asked for. The
    /// stream begins when it is asked for, not with its first iteration; it ends with the relay, after what it holds.
    public func events<E: DomainEvent>(
        of type: E.Type = E.self, from start: StreamPosition, buffer: EventBuffer = .standard
    ) throws -> EventStream<E> {
        let source = try source(of: type, from: start, buffer)
        source.begin()
        return EventStream(ReplayStream(source.source))
    }
    /// The events of a whole interface from `start` on, in their one order: what rebuilds a state.
    ///
    /// All else as above. Its cursor is for all of the interface's events, also those that a later version adds.
    public func events<I: EventInterface>(
        in interface: I.Type, from start: StreamPosition, buffer: EventBuffer = .standard
    ) throws -> EventStream<any DomainEvent> {
        try check(I.self, "\(I.name)")
        var decoders: [String: AnyEventDecoder] = [:]
        func add<E: DomainEvent>(_ type: E.Type) throws { decoders[E.name] = try EventDecoder(type) }
        for type in I.contract.events { try add(type) }
        let source = try follower.source(I.name, names: nil, from: start, buffer, ReplayDecoding(decoders))
        source.begin()
        return EventStream(ReplayStream(source.source))
    }
    private func source<E: DomainEvent>(
        of type: E.Type, from start: StreamPosition, _ buffer: EventBuffer
    ) throws -> (source: ReplaySource<E>, begin: () -> Void) {
        try check(E.Interface.self, E.name)
        return try follower.source(
            E.Interface.name, names: [E.name], from: start, buffer, ReplayDecoding(EventDecoder(type)))
    }
    private func check<I: EventInterface>(_ interface: I.Type, _ what: String) throws {
        if interfaces[I.name].map({ ObjectIdentifier($0) == ObjectIdentifier(interface) }) ?? false { return }
        throw RelayError(
            .notFound, "\(what) is of \(I.name), which this relay was not made for: name it in interfaces")
    }

    private func send<C: Command>(_ command: C, _ timeout: Duration) async throws(CommandError<C.Failure>) -> C.Reply {
        guard let codec = commands[ObjectIdentifier(C.self)] as? TypedCommandCodec<C> else {
            let text = "\(C.name) is of \(C.Interface.name), which this relay was not made for: name it in interfaces"
            throw .relay(RelayError(.notFound, text))
        }
        do {
            let body = try codec.encode(command)
            let reply = try await follower.call(
                interface: C.Interface.name, member: C.name, signature: codec.signature, body: body, timeout: timeout)
            return try codec.decode(reply)
        } catch let error as RelayError {
            throw codec.commandError(error)
        } catch {
            throw .relay(RelayError(.internalFailure, "\(C.name): \(error)", cause: error))
        }
    }
}
