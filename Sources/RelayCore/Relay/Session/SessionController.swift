import Synchronization

/// The follower's part that lives on the loop's thread: the connection, the owner, the states.
final class SessionController: BusHandler {
    let service: String
    private let bus: Bus
    let requirement: PeerRequirement
    let activation: EventRelay.Activation
    /// Interfaces that are durable whatever their service has told yet.
    let durable: Set<String>
    let sink: any SessionSink
    let loop: BusLoop
    let state: LoopBound<SessionState>
    let rings = OpenRings()
    /// What is to be followed, as far as the loop has not heard of it.
    private let follows = Mutex<[String: Set<String>?]>([:])
    let foreign = Atomic<Int>(0)
    let faults = Atomic<Int>(0)
    let replayedPages = Atomic<Int>(0)
    private let accounts = AccountCache(of: SystemAccounts())
    /// How long after a question that the bus could not answer it is asked again.
    static let patience = Duration.seconds(1)

    init(
        _ service: String, _ bus: Bus, _ requirement: PeerRequirement, _ activation: EventRelay.Activation,
        _ durable: Set<String>, _ sink: any SessionSink, _ loop: BusLoop
    ) {
        (self.service, self.bus, self.requirement, self.activation) = (service, bus, requirement, activation)
        (self.durable, self.sink, self.loop) = (durable, sink, loop)
        state = LoopBound(SessionState(), on: loop)
        // Here, on the caller's thread: a look-up may ask the network.
        requirement.lookUp(in: accounts)
    }
    var foreignSignals: Int { foreign.load(ordering: .relaxed) }
    var ringFaults: Int { faults.load(ordering: .relaxed) }

    // MARK: From any thread

    func activate() {
        loop.execute { [self] in
            switch state.onLoop.session.activate() {
            case .ignored: break
            case .connect: connect()
            }
        }
    }
    func invalidate(then next: @escaping @Sendable () -> Void = {}) {
        loop.execute { [self] in
            close(state.onLoop.session.end(), RelayError(.unavailable, "the relay of \(service) was invalidated"))
            // Behind the calls that have just ended.
            loop.execute(next)
        }
    }
    func follow(_ interface: String, _ names: Set<String>?) {
        follows.withLock { $0[interface] = .some(names) }
        loop.execute { [self] in
            // The latest: who ends a subscription and makes another one at once loses nothing between the two.
            guard let names = follows.withLock({ $0.removeValue(forKey: interface) }) else { return }
            let stream = stream(interface)
            stream.setSharedNames(names)
            updateRules(stream)
            run(stream.shared.machine.want(names), stream.shared, stream)
            endTransportIfUnused(stream)
            tellLasting(stream)
            settle()
        }
    }
    func call(_ call: MethodCall, timeout: Duration) async throws -> BusReply {
        let ticket = CallTicket()
        let result: Result<BusReply, RelayError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiting = WaitingCall(
                    call: call, deadline: MonotonicClock.deadline(after: timeout), ticket: ticket
                ) { continuation.resume(returning: $0) }
                loop.execute { [self] in admit(waiting) }
            }
        } onCancel: {
            loop.execute { [self] in cancel(ticket) }
        }
        return try result.get()
    }

    // MARK: Connecting

    private func connect() {
        if state.onLoop.session.isOver { return }
        BusConnection.open(bus, on: loop, handler: self) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let connection): connected(connection)
            case .failure(let error):
                endWaiting(error)
                switch state.onLoop.session.connectionFailed() {
                case .ignored: break
                case .retry(let standing):
                    report(standing)
                    retry()
                }
            }
        }
    }
    private func retry() {
        let delay = state.onLoop.backoff.delay()
        loop.schedule(after: delay) { [weak self] in self?.connect() }
    }
    private func connected(_ connection: BusConnection) {
        guard case .askForOwner(let generation) = state.onLoop.session.connected() else { return connection.close() }
        state.onLoop.connection = connection
        connection.addMatch(.owner(of: service)) { [weak self] result in
            guard let self, case .failure(let error) = result, error.code != .unavailable else { return }
            fail(RelayError(error.code, "the bus does not tell who owns \(service): \(error.message)", cause: error))
        }
        for stream in state.onLoop.streamsInOrder {
            stream.rules = []
            updateRules(stream)
        }
        askForOwner(generation)
        if activation.startsService { startService() }
    }
    func disconnected(_ reason: RelayError) {
        guard case .forget(let loss) = state.onLoop.session.busVanished() else { return }
        state.onLoop.connection = nil
        forgetOwner(loss) { $0.machine.disconnected() }
        retry()
    }
    private func close(_ end: ServiceSession<HeldSignal>.End, _ reason: RelayError) {
        guard case .end(let dropped) = end else { return }
        let replies = state.onLoop.heldReplies
        (state.onLoop.heldReplies, rings.holdsReplies) = ([], false)
        for reply in replies { reply.complete() }
        state.onLoop.connection?.close()
        state.onLoop.connection = nil
        foreign.add(dropped, ordering: .relaxed)
        state.onLoop.failure = reason
        endWaiting(reason)
        for stream in state.onLoop.streamsInOrder {
            for member in stream.members { member.feed?.finish() }
            stream.ringGeneration += 1
            perform(stream.transport.ended(), stream)
        }
        rings.thread = nil
    }
    /// Retrying will not help.
    func fail(_ error: RelayError) { fail(state.onLoop.session.end(), error) }
    private func fail(_ end: ServiceSession<HeldSignal>.End, _ error: RelayError) {
        guard case .end = end else { return }
        sink.state(.invalidated(error))
        close(end, error)
    }

    // MARK: Owner

    /// A question to the bus about the service's name.
    private func askBus(
        _ member: String, flags: UInt32? = nil, _ connection: BusConnection,
        _ completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(service)
            if let flags { body.uint32(flags) }
            let signature = try Signature(flags == nil ? "s" : "su")
            connection.send(.toBus(member, signature, body: body.bytes), completion: completion)
        } catch {
            fail(error)
        }
    }
    /// Asks the bus to start the service. Not activatable is no failure: then it is waited for, but not by calls.
    func startService() {
        guard let connection = state.onLoop.connection else { return }
        askBus("StartServiceByName", flags: 0, connection) { [weak self] result in
            guard let self, case .failure(let error) = result, state.onLoop.connection === connection,
                case .nobody = state.onLoop.session.callRoute
            else { return }
            endWaiting(RelayError(.unavailable, "\(service) is not running: \(error.message)", cause: error))
        }
    }
    private func askForOwner(_ generation: Int) {
        guard let connection = state.onLoop.connection else { return }
        askBus("GetNameOwner", connection) { [weak self] result in
            guard let self else { return }
            if state.onLoop.connection === connection { state.onLoop.backoff.reset() }
            switch state.onLoop.session.ownerAnswered(Self.ownership(result), to: generation) {
            case .changed(let change): ownerChanged(change)
            case .askAgain(let generation):
                loop.schedule(after: Self.patience) { [weak self] in
                    if let self, state.onLoop.session.generation == generation { askForOwner(generation) }
                }
            case .recheck(let generation): orderRecheck(generation)
            }
        }
    }
    private static func ownership(_ result: Result<BusReply, RelayError>) -> ServiceSession<HeldSignal>.Ownership {
        do throws(RelayError) {
            return .owner(try result.get().read("s") { try $0.string() })
        } catch {
            let isNobody = (error.cause as? RemoteError)?.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
            return isNobody ? .nobody : .unknown
        }
    }
    /// The owner does not answer, and nothing was heard of its departure: `NameOwnerChanged` gets lost like any signal when
    /// this relay is too slow for the bus.
    func askForOwner() { askForOwner(state.onLoop.session.generation) }

    func ownerChanged(_ change: ServiceSession<HeldSignal>.OwnerChange) {
        switch change {
        case .ignored: break
        case .absent: ownerAbsent()
        case .appeared(let candidate): ownerAppeared(candidate)
        case .vanished(let loss):
            forgetOwner(loss) { $0.machine.ownerVanished() }
            ownerAbsent()
        case .replaced(let loss, by: let candidate):
            forgetOwner(loss) { $0.machine.ownerVanished() }
            ownerAppeared(candidate)
        }
    }
    private func ownerAbsent() {
        for member in members { member.machine.ownerAbsent() }
        admitWaiting()
    }
    private func ownerAppeared(_ candidate: ServiceSession<HeldSignal>.Candidate) {
        // It is not asked before it is verified: see `ownerVerified`.
        for member in members { _ = member.machine.ownerAppeared(isNew: candidate.isNew) }
        verify(candidate)
    }
    /// The owner, or the bus, is gone.
    private func forgetOwner<Action: StreamAction<StreamSubscriber.HeldEvent>>(
        _ loss: ServiceSession<HeldSignal>.Loss,
        _ leave: (StreamSubscriber) -> Action
    ) {
        foreign.add(loss.dropped, ordering: .relaxed)
        state.onLoop.features = []
        // What its rings still have was published before it went.
        for stream in state.onLoop.streamsInOrder { drain(stream) }
        for stream in state.onLoop.streamsInOrder {
            for member in stream.members { run(leave(member), member, stream) }
            stream.forgetOwner()
            perform(stream.transport.ended(), stream)
        }
        rings.thread = nil
        forgetReads()
        releaseReplies()
        report(loss.standing)
    }
    private func verify(_ candidate: ServiceSession<HeldSignal>.Candidate) {
        guard let connection = state.onLoop.connection else { return }
        requirement.check(candidate.name, on: connection, accounts: accounts) { [weak self] verdict in
            guard let self else { return }
            switch verdict {
            case .success: ownerVerified(candidate.generation)
            case .failure(let error) where error.code == .notPermitted:
                let text = "\(service) is owned by a peer that does not meet the requirement: \(error.message)"
                fail(
                    state.onLoop.session.ownerRefused(candidate.generation),
                    RelayError(.notPermitted, text, cause: error))
            // It left before the bus was asked: `NameOwnerChanged` follows.
            case .failure(let error) where error.code == .unavailable:
                if state.onLoop.session.generation == candidate.generation { askForOwner() }
            // No answer says nothing about the owner.
            case .failure: orderRecheck(candidate.generation)
            }
        }
    }
    private func ownerVerified(_ generation: Int) {
        guard case .deliver(let held) = state.onLoop.session.ownerVerified(generation) else { return }
        for signal in held { take(signal) }
        for stream in state.onLoop.streamsInOrder {
            for member in stream.members {
                run(member.machine.unanswered(), member, stream)
                if member.search != nil { seek(member, stream) }
            }
        }
        admitWaiting()
        settle()
    }
    private func orderRecheck(_ generation: Int) {
        loop.schedule(after: Self.patience) { [weak self] in
            guard let self else { return }
            switch state.onLoop.session.recheck(generation) {
            case .ignored: break
            case .verify(let candidate): verify(candidate)
            case .askOwner:
                for stream in state.onLoop.streamsInOrder {
                    for member in stream.members where !member.machine.isSettled {
                        run(member.machine.unanswered(), member, stream)
                        if member.search != nil { seek(member, stream) }
                    }
                }
            }
        }
    }

    // MARK: States

    private var members: [StreamSubscriber] { state.onLoop.streamsInOrder.flatMap(\.members) }
    /// Active once the publisher's subscriptions are in step. A positioned one need only have had its answer: how long its
    /// replay takes is a matter of its own pace.
    func settle() {
        let isSettled = members.allSatisfy {
            $0.machine.isSettled || $0.feed != nil && ($0.isAnswered || $0.search != nil)
        }
        if isSettled { report(state.onLoop.session.settled()) }
    }
    /// Nil: it is as it was reported last.
    func report(_ standing: ServiceSession<HeldSignal>.Standing?) {
        switch standing {
        case .connecting: sink.state(.connecting)
        case .active: sink.state(.active)
        case .interrupted: sink.state(.interrupted)
        case nil: break
        }
    }
}
