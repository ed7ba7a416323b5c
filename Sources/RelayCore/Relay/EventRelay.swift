import Glibc
import RelayWire

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
    /// What goes wrong while it runs.
    let notices: NoticeReporter
    let failures = FailedHandlers()
    let interests: RelayInterests

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
    /// - Parameter onNotice: is called with each notice of the relay: see ``Notice/Kind``. Calls come one at a time on a
    ///   separate thread.
    /// - Throws: `.unsupportedType` for a type that D-Bus cannot carry; the message names the type, the field and the
    ///   reason. `.invalidArgument` for a bad name of the service or the host.
    public convenience init(
        following service: String, at host: String? = nil, on bus: Bus = .session,
        interfaces: any EventInterface.Type...,
        delivery: DeliveryTarget = .background, requiring requirement: PeerRequirement = .anyone,
        activation: Activation = .onDemand, cursors: String? = nil, cursorNamespace: String? = nil,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(
            following: service, at: host, on: bus, interfaces: interfaces, delivery: delivery, requiring: requirement,
            activation: activation, cursors: cursors, cursorNamespace: cursorNamespace, onNotice: onNotice)
    }
    /// Prepares to follow a service, with interfaces that are chosen at run time.
    ///
    /// In all other respects it works like the initialiser that takes single interfaces.
    ///
    /// - Parameter service: the bus name.
    /// - Parameter host: another host, whose service of that name is followed by its mirror on this bus.
    /// - Parameter bus: the bus to connect to.
    /// - Parameter interfaces: the interfaces whose events, documents and commands are used.
    /// - Parameter delivery: where to run handlers that are not isolated to an actor.
    /// - Parameter requirement: the condition that the owner of the name must meet.
    /// - Parameter activation: whether the bus is asked to start an absent service.
    /// - Parameter cursors: the folder in which `.resuming` keeps positions.
    /// - Parameter cursorNamespace: keeps the cursors apart from those of other programs.
    /// - Parameter onNotice: is called with each notice of the relay.
    /// - Throws: as the initialiser that takes single interfaces.
    public convenience init(
        following service: String, at host: String? = nil, on bus: Bus = .session,
        interfaces: [any EventInterface.Type],
        delivery: DeliveryTarget = .background, requiring requirement: PeerRequirement = .anyone,
        activation: Activation = .onDemand, cursors: String? = nil, cursorNamespace: String? = nil,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        let name = if let host { try MirrorName(of: service, at: host).description } else { service }
        try self.init(
            name, bus, interfaces, delivery, requirement, activation, cursors, .none, namespace: cursorNamespace,
            onNotice: onNotice)
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
        requiring requirement: PeerRequirement = .anyone, usesRings: Bool = true, cursors: String? = nil,
        timing: RelayTiming, onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        try self.init(
            service, bus, interfaces, .background, requirement, .onDemand, cursors, .none, usesRings, timing,
            onNotice: onNotice)
    }
    package convenience init(
        following service: String, on bus: Bus, interfaces: any EventInterface.Type...,
        requiring requirement: PeerRequirement = .anyone, usesRings: Bool
    ) throws {
        try self.init(service, bus, interfaces, .background, requirement, .onDemand, nil, .none, usesRings)
    }
    private init(
        _ service: String, _ bus: Bus, _ interfaces: [any EventInterface.Type], _ delivery: DeliveryTarget,
        _ requirement: PeerRequirement, _ activation: Activation, _ cursors: String?, _ faults: CursorFaults,
        _ usesRings: Bool = true, _ timing: RelayTiming = RelayTiming(), namespace: String? = nil,
        onNotice: @escaping @Sendable (Notice) -> Void = Notice.log
    ) throws {
        var contract = RelayContract()
        for interface in interfaces { try contract.add(interface) }
        let notices = NoticeReporter(onNotice, timing.notices)
        self.notices = notices
        let interests = RelayInterests(contract, notices)
        self.interests = interests
        self.service = service
        commands = contract.commands
        self.interfaces = contract.interfaces
        let publisher = EventPublisher(delivery: delivery, interest: interests)
        self.publisher = publisher
        receivers = RelayReceivers(publisher, contract.receivers, contract.interfaces, notices)
        follower = try ServiceFollower(
            service: service, on: bus, requiring: requirement, activation: activation, durable: contract.durable,
            cursors: cursors, cursorNamespace: namespace, usesRings: usesRings, timing: timing, faults: faults,
            onCursorFailure: { [weak publisher] name, error in
                notices.report(
                    .cursorFailed, .warning, "the position '\(name)' of \(service): \(error.message)",
                    of: .init(code: error.code), cause: error)
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
    /// A program that lives as long as its relay calls ``run()``, which throws the error of ``State/invalidated(_:)``.
    ///
    /// The sequence holds 64 states; a slow reader misses the oldest. To receive states in order with events, subscribe
    /// to ``State`` at the ``publisher``, as to any event.
    public var states: AsyncStream<State> { receivers.states() }

    /// The state of one interface. ``InterfaceChange`` reports each change.
    ///
    /// - Parameter interface: one of those that this relay was made for.
    /// - Returns: the state; `.unknown` for an interface without a subscription.
    public func availability<I: EventInterface>(of interface: I.Type) -> InterfaceState { receivers.state(of: I.name) }

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
    /// - Parameter timeout: how long to wait. nil means 25 seconds; for a command that requires polkit, 150, since a person
    ///   may be asked, who has two minutes.
    /// - Returns: the reply, the refusal, or the failure: `.unavailable` if there is no service or it went away,
    ///   `.timedOut`, `.notPermitted`, `.schemaMismatch` if the service has another version of the command,
    ///   `.cancelled`. `mayHaveRun` is false only if the command certainly did not run.
    public func outcome<C: Command>(of command: C, timeout: Duration? = nil) async -> CommandOutcome<C> {
        do throws(RelayError) {
            let (codec, call) = try prepare(command)
            return codec.outcome(
                of: await follower.core.calls.result(
                    of: call, codec.form, timeout: timeout ?? codec.form.patience, isCancellable: C.isCancellable))
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
    /// } catch PrintJob.Refusal.tooLong {
    ///     print("too long")
    /// } catch {
    ///     print("the printer cannot be reached: \(error)")
    /// }
    /// ```
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long to wait: see ``outcome(of:timeout:)``.
    /// - Returns: the reply.
    /// - Throws: the command's `Refusal` as it is, if the handler refused. Otherwise the ``RelayError`` of
    ///   ``CommandOutcome/failed(_:)``.
    public func call<C: Command>(_ command: C, timeout: Duration? = nil) async throws -> C.Reply {
        try await outcome(of: command, timeout: timeout).get()
    }
    /// Sends a command without a reply once, and waits until it has run. In all other respects it works like
    /// ``outcome(of:timeout:)``.
    ///
    /// - Parameter command: the request.
    /// - Parameter timeout: how long to wait.
    /// - Throws: the command's `Refusal` as it is, if the handler refused. Otherwise the ``RelayError`` of
    ///   ``CommandOutcome/failed(_:)``.
    public func call<C: Command>(_ command: C, timeout: Duration? = nil) async throws
    where C.Reply == NoReply {
        _ = try await outcome(of: command, timeout: timeout).get()
    }

    func check<I: EventInterface>(_ interface: I.Type, _ what: String) throws {
        if !interfaces.includes(interface) { throw unlisted(interface, what) }
    }
    func unlisted<I: EventInterface>(_ interface: I.Type, _ what: String) -> RelayError {
        RelayError(.notFound, interfaces.unlisted(interface, what))
    }
}
