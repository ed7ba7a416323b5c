import Glibc

/// The front end's side: follows a service by its name, and delivers its events to a local publisher.
///
/// ```swift
/// let relay = try EventRelay(following: "org.example.Printer", interfaces: Printing1.self)
/// let subscription = relay.publisher.subscribe(to: JobPrinted.self) { print($0.title) } onGap: { print($0) }
/// relay.activate()
/// let reply = try await relay.call(PrintJob(title: "Invitation", pages: 2))
/// ```
///
/// - Order: the events of one interface arrive in the order in which they were published, whichever transport carries
///   them. A reply arrives after the events that the service published before it. If some of them must be read from the
///   journal, the reply waits for them, within the call's timeout. On one actor or queue, a ``State`` arrives after the
///   events that preceded it. Each positioned subscription has its own order.
/// - Isolation: as with any ``publisher``. An `.immediate` handler runs on one of the relay's two threads, or on that of
///   a task that waits for the answer of a command; never on two at once. It must not block there. It may use the relay
///   in any way, and end it.
/// - Loss: events of a durable interface that did not arrive are read from the service's journal. A `Gap` stands in
///   place of events that cannot be read, that a volatile interface lost, or that overflowed a buffer. A positioned
///   subscription to a durable interface reads events again instead of losing them to an overflow. Only events from the
///   verified owner of the service's name count.
/// - Cancellation: ``invalidate()``, or the relay's release.
public final class EventRelay: Sendable {
    /// Delivers the service's events. Code that subscribes here need not know the bus.
    ///
    /// Events that your own code publishes here stay in this process. A subscription to a domain event that the relay does
    /// not follow gets a gap with `notFollowed`, which says why: nothing but your own code can bring such an event.
    public let publisher: EventPublisher
    /// The bus name of the followed service, or of its mirror.
    public let service: String
    let follower: ServiceFollower
    private let receivers: RelayReceivers
    private let interfaces: [String: any EventInterface.Type]
    private let commands: [ObjectIdentifier: any RelayCommandCodec]
    /// The objects that are subscribed here.
    let objects = ObjectSubscriptions()
    /// Those of positioned subscriptions.
    let handlers = RunningHandlers()
    /// Of documents that the service has in another version.
    let bases = DocumentBases()

    /// Prepares to follow a service. Nothing happens before ``activate()``, so that the first subscriptions miss
    /// nothing.
    ///
    /// - Parameter service: the bus name, which need not have an owner yet.
    /// - Parameter host: another host, whose service of that name is followed by its mirror on this bus: the events are
    ///   those of the origin, with its epochs and sequences, and commands are refused with `.readOnly`. nil means this
    ///   host.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces whose events, documents and commands are used.
    /// - Parameter delivery: where to run handlers that are not isolated to an actor.
    /// - Parameter requirement: the condition that the owner of the name must meet.
    /// - Parameter activation: whether the bus is asked to start an absent service.
    /// - Parameter cursors: the folder in which `.resuming` keeps positions. nil means `relay/cursors` in
    ///   `XDG_STATE_HOME`, or in `~/.local/state` if that is not set. The folder is created when it is first needed,
    ///   and only its user can enter it.
    /// - Parameter cursorNamespace: keeps the cursors apart from those of other programs, or of other uses in this one,
    ///   that follow the same service with the same names. 1 to 64 letters, digits, `_` and `-`.
    /// - Throws: `.unsupportedType` for a type that D-Bus cannot carry; the message names the type, the field and the
    ///   reason. `.invalidArgument` for a bad name of the service or the host.
    public convenience init(
        following service: String, at host: String? = nil, on bus: Bus = .session,
        interfaces: any EventInterface.Type...,
        delivery: DeliveryTarget = .background, requiring requirement: PeerRequirement = .anyone,
        activation: Activation = .onDemand, cursors: String? = nil, cursorNamespace: String? = nil
    ) throws {
        let name = if let host { try MirrorName(of: service, at: host).description } else { service }
        try self.init(
            name, bus, interfaces, delivery, requirement, activation, cursors, .none, namespace: cursorNamespace)
    }
    /// With faults for tests of its cursors.
    package convenience init(
        following service: String, on bus: Bus, interfaces: any EventInterface.Type..., cursors: String,
        faults: CursorFaults
    ) throws {
        try self.init(service, bus, interfaces, .background, .anyone, .onDemand, cursors, faults)
    }
    /// With or without rings, and with its own timing.
    package convenience init(
        following service: String, on bus: Bus, interfaces: any EventInterface.Type...,
        requiring requirement: PeerRequirement = .anyone, usesRings: Bool, timing: RelayTiming = RelayTiming()
    ) throws {
        try self.init(service, bus, interfaces, .background, requirement, .onDemand, nil, .none, usesRings, timing)
    }
    /// Of interfaces that are chosen at run time.
    package convenience init(following service: String, on bus: Bus, interfaces: [any EventInterface.Type]) throws {
        try self.init(service, bus, interfaces, .background, .anyone, .onDemand, nil, .none)
    }
    private init(
        _ service: String, _ bus: Bus, _ interfaces: [any EventInterface.Type], _ delivery: DeliveryTarget,
        _ requirement: PeerRequirement, _ activation: Activation, _ cursors: String?, _ faults: CursorFaults,
        _ usesRings: Bool = true, _ timing: RelayTiming = RelayTiming(), namespace: String? = nil
    ) throws {
        var contract = RelayContract()
        for interface in interfaces { try contract.add(interface) }
        let interests = RelayInterests(contract)
        self.service = service
        commands = contract.commands
        self.interfaces = contract.interfaces
        let publisher = EventPublisher(delivery: delivery, interest: interests)
        self.publisher = publisher
        receivers = RelayReceivers(publisher, contract.receivers, contract.interfaces)
        follower = try ServiceFollower(
            service: service, on: bus, requiring: requirement, activation: activation, durable: contract.durable,
            cursors: cursors, cursorNamespace: namespace, usesRings: usesRings, timing: timing, faults: faults,
            onCursorFailure: { [weak publisher] name, error in
                publisher?.publish(CursorFailure(name: name, error: error))
            }, sink: receivers)
        interests.start(follower)
    }
    deinit { receivers.finish() }

    /// Begins a cursor of this relay where the cursor of the same name of another service is.
    ///
    /// A mirror has the epochs and sequences of its origin. So a subscriber that followed the origin can go on at a
    /// mirror, and back, with no event lost or repeated. That the two have the same history is known to you alone:
    /// between services that are not mirrors of one another, the next subscription begins with a gap.
    ///
    /// ```swift
    /// let relay = try EventRelay(following: "org.example.Printer", at: "kitchen", interfaces: Printing1.self)
    /// try relay.takeOverCursor("ledger", of: "org.example.Printer")
    /// ```
    ///
    /// Call it before the first subscription with `.resuming(name)`. The other cursor stays as it is. Both are in the
    /// folder and namespace of this relay's cursors.
    ///
    /// - Parameter name: the cursor's name.
    /// - Parameter other: the bus name of the other service.
    /// - Throws: `.notFound` if there is no such cursor. `.conflict` if this relay's cursor has a place already, or one
    ///   of the two is in use. `.invalidArgument` for a bad name, or a damaged cursor. `.unavailable`, `.storageFull`
    ///   or `.notPermitted` if the files cannot be read or written.
    public func takeOverCursor(_ name: String, of other: String) throws {
        try BusNames.check(other, as: .busName)
        try follower.takeOverCursor(name, of: other)
    }

    /// Connects to the bus, and reconnects whenever necessary. The service need not be running yet. The relay survives
    /// restarts of the service and of the bus.
    public func activate() { follower.activate() }
    /// Ends the relay: waiting calls fail with `.unavailable`, and no handler runs after this returns.
    ///
    /// This cancels the subscriptions of all closures and objects, both at the ``publisher`` and positioned ones, and
    /// drops the events in their buffers. Streams yield the events that they hold, then end.
    ///
    /// - Isolation: from any thread. It waits for handlers that run on other threads, so do not call it while you hold
    ///   a lock that a handler takes. It does not wait for an object's `on(_:)` or `onGap(_:)`, which may await the
    ///   caller. If a handler of this relay calls this, it does not wait at all: no new call of a handler begins, but
    ///   calls on other threads may still be running. The same holds for handlers of several relays that end each
    ///   other's relay.
    public func invalidate() {
        receivers.finish()
        follower.invalidate()
        let thread = pthread_self()
        // Two handlers that end their relay would wait for each other.
        var waits = !isHandling(on: thread)
        let awaited = AwaitedHandlers(self)
        func wait(while isRunning: () -> Bool) {
            if waits { waits = HandlerWaits.ofProcess.wait(of: thread, for: awaited, while: isRunning) }
        }
        // What is being delivered was under way: in a turn.
        let turns = follower.loop.markTurns()
        wait { !follower.loop.haveTurnsEnded(before: turns) }
        let ended = handlers.end() + publisher.endHandlers()
        awaited.note(ended)
        wait { ended.areRunning }
    }
    /// Whether that thread is within a handler of this relay.
    func isHandling(on thread: UInt) -> Bool {
        follower.loop.isHeld(by: thread) || handlers.isHandling(on: thread) || publisher.isHandling(on: thread)
    }

    /// The state of the connection: the present one, then every change. The sequence ends after
    /// ``State/invalidated(_:)``, or with the relay.
    ///
    /// A program that lives as long as its relay ends with the error of ``State/invalidated(_:)``. The loop alone would end
    /// it as if all were well:
    ///
    /// ```swift
    /// for await state in relay.states { if case .invalidated(let error) = state { throw error } }
    /// ```
    ///
    /// The sequence holds 64 states; a slow reader misses the oldest. To receive states in order with events, subscribe
    /// to ``State`` at the ``publisher``, as to any event.
    public var states: AsyncStream<State> { receivers.states() }

    /// The state of one interface. ``InterfaceChange`` reports each change.
    ///
    /// - Parameter interface: one of those that this relay was made for.
    /// - Returns: the state; `.unknown` for an interface without a subscription.
    public func state<I: EventInterface>(of interface: I.Type) -> InterfaceState { receivers.state(of: I.name) }

    var timing: RelayTiming { follower.core.timing }
    /// How many signals of the service's interfaces were dropped because their sender does not own the service's name.
    package var foreignSignals: Int { follower.foreignSignals }

    // MARK: Commands

    /// Sends a command once, and returns how it ended. Use this to handle each outcome.
    ///
    /// ```swift
    /// switch await relay.outcome(of: PrintJob(title: "Invitation", pages: 2)) {
    /// case .success(let reply): print("is job \(reply.jobID)")
    /// case .refused(.tooLong): print("too long")
    /// case .failed(let error): print(error.message)
    /// }
    /// ```
    ///
    /// The call waits, within its timeout, from ``activate()`` until the first attempt to connect has ended, and while
    /// the relay looks up the service's owner. If the attempt fails, all waiting calls end at once with `.unavailable`:
    /// no command has run, and the relay continues to retry. A later call also ends at once if the bus is gone. If the
    /// service is absent, the bus starts it for the call if it can. Otherwise the call ends with `.unavailable`.
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long to wait.
    /// - Returns: the reply, the refusal, or the failure: `.unavailable` if there is no service or it went away,
    ///   `.timedOut`, `.notPermitted`, `.schemaMismatch` if the service has another version of the command,
    ///   `.cancelled`. `mayHaveRun` is false only if the command certainly did not run.
    public func outcome<C: Command>(of command: C, timeout: Duration = .seconds(25)) async -> CommandOutcome<C> {
        do throws(RelayError) {
            let (codec, call) = try prepare(command)
            return codec.outcome(
                of: await follower.core.calls.result(
                    of: call, codec.form, timeout: timeout, isCancellable: C.isCancellable))
        } catch {
            return .failed(error)
        }
    }
    /// How a command is sent. Throws `.notFound` for one of another interface, and what cannot be encoded.
    func prepare<C: Command>(_ command: C) throws(RelayError) -> (codec: TypedCommandCodec<C>, call: MethodCall) {
        guard let found = commands[ObjectIdentifier(C.self)] else { throw unlisted(C.Interface.self, C.name) }
        // The table has each codec by its command's type. A cast would look for that at every call.
        let codec = unsafeDowncast(found, to: TypedCommandCodec<C>.self)
        return (codec, try codec.call(command, to: service))
    }
    /// Sends a command once, and waits for its reply. Use it to continue only with a reply. One `catch` serves any
    /// number of commands. Everything else is as with ``outcome(of:timeout:)``.
    ///
    /// ```swift
    /// do {
    ///     let reply = try await relay.call(PrintJob(title: "Invitation", pages: 2))
    ///     try await relay.call(CancelJob(jobID: reply.jobID))
    /// } catch RelayError.refused(PrintJob.Failure.tooLong) {
    ///     print("too long")
    /// } catch .refused {
    ///     print("the printer does not take that")
    /// } catch {
    ///     print("the printer cannot be reached: \(error)")
    /// }
    /// ```
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long to wait.
    /// - Returns: the reply.
    /// - Throws: always a ``RelayError``: `.refused` if the handler refused, or the error of
    ///   ``CommandOutcome/failed(_:)``. It never throws the command's own `Failure`: `catch PrintJob.Failure.tooLong`
    ///   compiles, as it does over any call, and never matches. Write
    ///   `catch RelayError.refused(PrintJob.Failure.tooLong)`.
    // Not `throws(RelayError)`: a `catch` of some codes over it, in a function that throws and has a `var`, crashes the
    // compiler (6.3.1). For `do throws(RelayError)` there is `outcome(of:).get()`.
    //
    // Tried against a `catch` of the command's own `Failure`: an unavailable `~=` is not asked, since the case of an enum
    // is a pattern of the language; a `Failure` that is no `Error` would not compile there, but could not be thrown by a
    // handler; and throwing the `Failure` itself would make every `catch let error as RelayError` miss refusals. In a
    // closure, `catch .refused(…)` finds no other type than `Code`: so the matching form spells `RelayError`.
    public func call<C: Command>(_ command: C, timeout: Duration = .seconds(25)) async throws -> C.Reply {
        try await outcome(of: command, timeout: timeout).get()
    }
    /// Sends a command without a reply once, and waits until it has run. In all other respects it works like
    /// ``outcome(of:timeout:)``.
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long to wait.
    /// - Throws: always a ``RelayError``: `.refused` if the handler refused, or the error of
    ///   ``CommandOutcome/failed(_:)``.
    public func call<C: Command>(_ command: C, timeout: Duration = .seconds(25)) async throws
    where C.Reply == NoReply {
        _ = try await outcome(of: command, timeout: timeout).get()
    }

    // MARK: Subscriptions, live or from a position

    /// Calls `handler` with each event of a type, beginning at `start`; by default from now on.
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
    ///   ms after the handler has returned, and at the end, so after a crash the last events come again. A
    ///   ``CursorFailure`` reports that the position cannot be written.
    /// - Parameter type: the type of event.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter handler: is called with each event.
    /// - Parameter onGap: is called with each gap.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for an event whose interface the relay was not made for, or that its contract lacks. For
    ///   `.resuming`: `.conflict` while the name is in use; `.invalidArgument` for a bad name, a damaged file, or one
    ///   that was made for other events; `.unavailable` or `.notPermitted` for a folder that cannot be used.
    public func subscribe<E: DomainEvent>(
        to type: E.Type = E.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        @_inheritActorContext onGap: @escaping @isolated(any) @Sendable (Gap) -> Void
    ) throws -> Subscription { try subscribe(type, start, buffer, handler, onGap) }
    /// Calls `handler` with each event of a type, beginning at `start`, and ignores gaps.
    ///
    /// Order, isolation and cancellation are those of ``subscribe(to:from:buffer:_:onGap:)``. Only
    /// ``Subscription/missed`` counts the missing events.
    ///
    /// - Parameter type: the type of event.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Parameter onGap: `.ignore`.
    /// - Parameter handler: is called with each event.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: as ``subscribe(to:from:buffer:_:onGap:)``.
    public func subscribe<E: DomainEvent>(
        to type: E.Type = E.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard,
        onGap: GapHandling,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) -> Void
    ) throws -> Subscription { try subscribe(type, start, buffer, handler, nil) }
    private func subscribe<E: DomainEvent>(
        _ type: E.Type, _ start: StreamPosition, _ buffer: EventBuffer,
        _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        _ onGap: (@isolated(any) @Sendable (Gap) -> Void)?
    ) throws -> Subscription {
        let source = try source(of: type, from: start, buffer)
        return deliver(source.source, begin: source.begin, handler, onGap)
    }
    /// Has the closures called where they are isolated, else where the publisher delivers.
    func deliver<Payload: Sendable>(
        _ source: ReplaySource<Payload>, begin: () -> Void,
        _ handler: @escaping @isolated(any) @Sendable (Payload) -> Void,
        _ onGap: (@isolated(any) @Sendable (Gap) -> Void)?
    ) -> Subscription {
        let route: DeliveryRoute?
        if let actor = handler.isolation ?? onGap?.isolation {
            route = .closures(on: actor)
        } else if case .immediate = publisher.delivery.kind {
            route = nil
        } else {
            route = .closures(publisher.delivery)
        }
        let areApart = onGap?.isolation.map { actor in handler.isolation.map { $0 !== actor } ?? false } ?? false
        let body = ReplayHandler(
            source, route, onActor(handler) { $0 }, onGap.map { onGap in onActor(onGap) { $0 } }, maySuspend: areApart)
        handlers.add(body)
        body.begin()
        begin()
        return Subscription(body)
    }
    /// The events of a type, beginning at `start`, as a sequence.
    ///
    /// Order and loss are those of ``subscribe(to:from:buffer:_:onGap:)``. An event counts as handled when the next one
    /// is requested. The stream begins when it is created. When the relay ends, the stream yields the events that it
    /// holds, then ends.
    ///
    /// - Parameter type: the type of event.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Returns: the stream.
    /// - Throws: as ``subscribe(to:from:buffer:_:onGap:)``.
    public func events<E: DomainEvent>(
        of type: E.Type = E.self, from start: StreamPosition = .now, buffer: EventBuffer = .standard
    ) throws -> EventStream<E> {
        let source = try source(of: type, from: start, buffer)
        source.begin()
        return EventStream(ReplayStream(source.source))
    }
    /// The events of a whole interface, beginning at `start`, in the interface's order. Use this to rebuild a state.
    ///
    /// An event counts as handled when the next one is requested. The stream begins when it is created. When the relay
    /// ends, the stream yields the events that it holds, then ends. Its cursor covers all events of the interface,
    /// including those that a later version adds.
    ///
    /// - Parameter interface: the interface.
    /// - Parameter start: where to begin.
    /// - Parameter buffer: how many live events are held.
    /// - Returns: the stream.
    /// - Throws: as ``subscribe(to:from:buffer:_:onGap:)``.
    public func events<I: EventInterface>(
        in interface: I.Type, from start: StreamPosition = .now, buffer: EventBuffer = .standard
    ) throws -> EventStream<any DomainEvent> {
        try check(I.self, "\(I.name)")
        var decoders: [String: AnyEventDecoder] = [:]
        func add<E: DomainEvent>(_ type: E.Type) throws { decoders[E.name] = try EventDecoder(type) }
        for type in I.contract.events { try add(type) }
        let source = try follower.source(I.name, names: nil, from: start, buffer, ReplayDecoding(decoders))
        source.begin()
        return EventStream(ReplayStream(source.source))
    }
    func source<E: DomainEvent>(
        of type: E.Type, from start: StreamPosition, _ buffer: EventBuffer
    ) throws -> (source: ReplaySource<E>, begin: () -> Void) {
        guard E.Interface.contract.events.contains(where: { ObjectIdentifier($0) == ObjectIdentifier(type) }) else {
            throw unlisted(E.Interface.self, E.name)
        }
        try check(E.Interface.self, E.name)
        return try follower.source(
            E.Interface.name, names: [E.name], from: start, buffer, ReplayDecoding(EventDecoder(type)))
    }
    func check<I: EventInterface>(_ interface: I.Type, _ what: String) throws {
        if !interfaces.includes(interface) { throw unlisted(interface, what) }
    }
    private func unlisted<I: EventInterface>(_ interface: I.Type, _ what: String) -> RelayError {
        RelayError(.notFound, interfaces.unlisted(interface, what))
    }
}
