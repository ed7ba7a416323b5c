/// The front end: follows a service's name, and feeds a local publisher with its events.
///
/// - Order: the events of one interface come in the order of their publication; a reply comes after the events that the
///   service published before it; a `State` comes after the events that preceded it, on the same actor or queue.
/// - Isolation: as with any `EventPublisher`. `.immediate` handlers run on the relay's bus thread, and must not block there.
/// - Loss: what did not arrive is a `Gap` in its place. An event counts only from the verified owner of the service's name.
/// - Cancellation: `invalidate()`, or release.
public final class EventRelay: Sendable {
    /// An ordinary publisher. Subscribe here as to any other: code that does so need not know of the bus. What is published
    /// here by hand stays in this process.
    public let publisher: EventPublisher
    /// The bus name that is followed.
    public let service: String
    let follower: ServiceFollower
    private let receivers: RelayReceivers
    private let commands: [ObjectIdentifier: any RelayCommandCodec]

    /// Prepares to follow a service. Nothing happens before `activate()`, so that the first subscriptions miss nothing.
    ///
    /// - Parameters:
    ///   - service: the bus name, which need not have an owner yet.
    ///   - interfaces: those whose events and commands are used here.
    ///   - delivery: where handlers run that are on no actor.
    ///   - requirement: whom the service's owner must be, to be believed.
    ///   - activation: whether the bus is asked to start an absent service.
    /// - Throws: `UnsupportedType` with type, field and reason for what D-Bus cannot carry; `InvalidArgument` for a name that
    ///   is none.
    public convenience init(
        following service: String, on bus: Bus = .session, interfaces: any EventInterface.Type...,
        delivery: DeliveryTarget = .background, requiring requirement: PeerRequirement = .anyone,
        activation: Activation = .onDemand
    ) throws {
        try self.init(service, bus, interfaces, delivery, requirement, activation)
    }
    private init(
        _ service: String, _ bus: Bus, _ interfaces: [any EventInterface.Type], _ delivery: DeliveryTarget,
        _ requirement: PeerRequirement, _ activation: Activation
    ) throws {
        var contract = RelayContract()
        for interface in interfaces { try contract.add(interface) }
        let interests = RelayInterests(contract.interests)
        self.service = service
        commands = contract.commands
        publisher = EventPublisher(delivery: delivery, interest: interests)
        receivers = RelayReceivers(publisher, contract.receivers, contract.interfaces)
        follower = try ServiceFollower(
            service: service, on: bus, requiring: requirement, activation: activation, sink: receivers)
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
