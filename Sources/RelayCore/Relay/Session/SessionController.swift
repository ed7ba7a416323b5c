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
            if state.onLoop.isActivated || state.onLoop.isInvalidated { return }
            state.onLoop.isActivated = true
            connect()
        }
    }
    func invalidate(then next: @escaping @Sendable () -> Void = {}) {
        loop.execute { [self] in
            state.onLoop.isInvalidated = true
            close(RelayError(.unavailable, "the relay of \(service) was invalidated"))
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
        if state.onLoop.isInvalidated { return }
        BusConnection.open(bus, on: loop, handler: self) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let connection): connected(connection)
            case .failure(let error):
                endWaiting(error)
                tell(state.onLoop.wasActive ? .interrupted : .connecting)
                retry()
            }
        }
    }
    private func retry() {
        let delay = state.onLoop.backoff.delay()
        loop.schedule(after: delay) { [weak self] in self?.connect() }
    }
    private func connected(_ connection: BusConnection) {
        if state.onLoop.isInvalidated { return connection.close() }
        state.onLoop.connection = connection
        connection.addMatch(.owner(of: service)) { [weak self] result in
            guard let self, case .failure(let error) = result, error.code != .unavailable else { return }
            fail(RelayError(error.code, "the bus does not tell who owns \(service): \(error.message)", cause: error))
        }
        for stream in state.onLoop.streamsInOrder {
            stream.rules = []
            updateRules(stream)
        }
        askForOwner(connection)
        if activation.startsService { startService() }
    }
    /// Who has the name, as the bus answered.
    private enum Ownership {
        case owner(String)
        case nobody
        /// No answer, which says nothing.
        case unknown

        init(_ result: Result<BusReply, RelayError>) {
            do throws(RelayError) {
                self = .owner(try result.get().read("s") { try $0.string() })
            } catch {
                let isNobody = (error.cause as? RemoteError)?.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
                self = isNobody ? .nobody : .unknown
            }
        }
    }
    private func askForOwner(_ connection: BusConnection) {
        askBus("GetNameOwner", connection) { [weak self] result in
            // `NameOwnerChanged` may have said it meanwhile.
            guard let self, state.onLoop.connection === connection, !state.onLoop.isResolved else { return }
            state.onLoop.backoff.reset()
            switch Ownership(result) {
            case .owner(let owner): resolved(owner, isNew: false)
            case .nobody: resolved(nil, isNew: false)
            case .unknown: loop.schedule(after: Self.patience) { [weak self] in self?.askForOwner(connection) }
            }
        }
    }
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
                state.onLoop.isResolved, state.onLoop.owner == nil, state.onLoop.candidate == nil
            else { return }
            endWaiting(RelayError(.unavailable, "\(service) is not running: \(error.message)", cause: error))
        }
    }
    func disconnected(_ reason: RelayError) {
        state.onLoop.connection = nil
        foreign.add(state.onLoop.ownership.lost(), ordering: .relaxed)
        state.onLoop.features = []
        for stream in state.onLoop.streamsInOrder {
            drain(stream)
            for member in stream.members { run(member.machine.disconnected(), member, stream) }
            stream.forgetOwner()
            perform(stream.transport.ended(), stream)
        }
        rings.thread = nil
        forgetReads()
        releaseReplies()
        if state.onLoop.isInvalidated { return }
        tell(state.onLoop.wasActive ? .interrupted : .connecting)
        retry()
    }
    private func close(_ reason: RelayError) {
        let replies = state.onLoop.heldReplies
        (state.onLoop.heldReplies, rings.holdsReplies) = ([], false)
        for reply in replies { reply.complete() }
        state.onLoop.connection?.close()
        state.onLoop.connection = nil
        foreign.add(state.onLoop.ownership.lost(), ordering: .relaxed)
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
    func fail(_ error: RelayError) {
        if state.onLoop.isInvalidated { return }
        tell(.invalidated(error))
        state.onLoop.isInvalidated = true
        close(error)
    }

    // MARK: Owner

    /// - Parameter isNew: whether the owner took the name while this relay was on the bus.
    func resolved(_ owner: String?, isNew: Bool) {
        let hadOwner = state.onLoop.ownership.present != nil
        // What its rings still have was published before it went.
        if hadOwner { for stream in state.onLoop.streamsInOrder { drain(stream) } }
        foreign.add(state.onLoop.ownership.changed(to: owner), ordering: .relaxed)
        if hadOwner {
            state.onLoop.features = []
            for stream in state.onLoop.streamsInOrder {
                for member in stream.members { run(member.machine.ownerVanished(), member, stream) }
                stream.forgetOwner()
                perform(stream.transport.ended(), stream)
            }
            rings.thread = nil
            forgetReads()
            releaseReplies()
            tell(state.onLoop.wasActive ? .interrupted : .connecting)
        }
        guard let owner, let connection = state.onLoop.connection else {
            for member in members { member.machine.ownerAbsent() }
            return admitWaiting()
        }
        let generation = state.onLoop.ownerGeneration
        // It is not asked before it is verified: see `ownerVerified`.
        for member in members { _ = member.machine.ownerAppeared(isNew: isNew) }
        verify(owner, generation, connection)
    }
    private func verify(_ owner: String, _ generation: Int, _ connection: BusConnection) {
        requirement.check(owner, on: connection, accounts: accounts) { [weak self] verdict in
            guard let self, state.onLoop.ownerGeneration == generation else { return }
            switch verdict {
            case .success: ownerVerified(generation)
            case .failure(let error) where error.code == .notPermitted:
                fail(
                    RelayError(
                        .notPermitted,
                        "\(service) is owned by a peer that does not meet the requirement: \(error.message)",
                        cause: error))
            // It left before the bus was asked: `NameOwnerChanged` follows.
            case .failure(let error) where error.code == .unavailable: resolveAgain()
            // No answer says nothing about the owner.
            case .failure:
                loop.schedule(after: Self.patience) { [weak self] in
                    guard let self, state.onLoop.ownerGeneration == generation else { return }
                    verify(owner, generation, connection)
                }
            }
        }
    }
    private func ownerVerified(_ generation: Int) {
        guard let held = state.onLoop.ownership.verify(generation) else { return }
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
    /// The owner does not answer, and nothing was heard of its departure: `NameOwnerChanged` gets lost like any signal when
    /// this relay is too slow for the bus.
    func resolveAgain() {
        guard let connection = state.onLoop.connection else { return }
        let generation = state.onLoop.ownerGeneration
        askBus("GetNameOwner", connection) { [weak self] result in
            guard let self, state.onLoop.ownerGeneration == generation else { return }
            let present = state.onLoop.ownership.present
            switch Ownership(result) {
            case .owner(let owner) where owner == present:
                loop.schedule(after: Self.patience) { [weak self] in self?.askAgain(generation) }
            case .owner(let owner): resolved(owner, isNew: true)
            case .nobody: if present != nil { resolved(nil, isNew: true) }
            case .unknown:
                loop.schedule(after: Self.patience) { [weak self] in
                    if self?.state.onLoop.ownerGeneration == generation { self?.resolveAgain() }
                }
            }
        }
    }
    /// The owner is the same, but some question to it was not answered.
    private func askAgain(_ generation: Int) {
        guard state.onLoop.ownerGeneration == generation, let connection = state.onLoop.connection else { return }
        if let candidate = state.onLoop.candidate { return verify(candidate, generation, connection) }
        for stream in state.onLoop.streamsInOrder {
            for member in stream.members where !member.machine.isSettled {
                run(member.machine.unanswered(), member, stream)
                if member.search != nil { seek(member, stream) }
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
        guard state.onLoop.owner != nil, isSettled else { return }
        state.onLoop.wasActive = true
        tell(.active)
    }
    func tell(_ new: EventRelay.State) {
        if state.onLoop.isInvalidated || state.onLoop.told.isSame(as: new) { return }
        state.onLoop.told = new
        sink.state(new)
    }
}
