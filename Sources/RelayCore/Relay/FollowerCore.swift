import Synchronization

/// The follower's part that lives on the loop's thread: the connection, the owner, the states.
final class FollowerCore: BusHandler {
    let service: String
    private let bus: Bus
    let requirement: PeerRequirement
    let activation: EventRelay.Activation
    let sink: any FollowerSink
    let loop: BusLoop
    let state: LoopBound<FollowerState>
    let foreign = Atomic<Int>(0)

    init(
        _ service: String, _ bus: Bus, _ requirement: PeerRequirement, _ activation: EventRelay.Activation,
        _ sink: any FollowerSink, _ loop: BusLoop
    ) {
        (self.service, self.bus, self.requirement, self.activation) = (service, bus, requirement, activation)
        (self.sink, self.loop) = (sink, loop)
        state = LoopBound(FollowerState(), on: loop)
    }
    var foreignSignals: Int { foreign.load(ordering: .relaxed) }

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
        loop.execute { [self] in
            let lane = lane(interface)
            lane.names = names
            updateRules(lane)
            run(lane.machine.want(names), lane)
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
        connection.addMatch(.owner(of: service))
        for lane in state.onLoop.lanes.values {
            lane.rules = []
            updateRules(lane)
        }
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(service)
            connection.send(.toBus("GetNameOwner", try Signature("s"), body: body.bytes)) { [weak self] result in
                // `NameOwnerChanged` may have said it meanwhile.
                guard let self, !state.onLoop.isResolved else { return }
                state.onLoop.backoff.reset()
                resolved(try? result.get().read("s") { try $0.string() }, isNew: false)
            }
            if activation.startsService {
                body.uint32(0)
                let start = MethodCall.toBus("StartServiceByName", try Signature("su"), body: body.bytes)
                // Not activatable is no failure: it is waited for. Activated: `NameOwnerChanged` tells.
                connection.send(start) { _ in }
            }
        } catch {
            close(error)
        }
    }
    func disconnected(_ reason: RelayError) {
        state.onLoop.connection = nil
        (state.onLoop.owner, state.onLoop.candidate, state.onLoop.isResolved) = (nil, nil, false)
        state.onLoop.ownerGeneration += 1
        for lane in state.onLoop.lanes.values {
            run(lane.machine.disconnected(), lane)
            (lane.generation, lane.hasSchemas) = (lane.generation + 1, false)
        }
        if state.onLoop.isInvalidated { return }
        tell(state.onLoop.wasActive ? .interrupted : .connecting)
        retry()
    }
    private func close(_ reason: RelayError) {
        state.onLoop.connection?.close()
        (state.onLoop.connection, state.onLoop.owner, state.onLoop.candidate) = (nil, nil, nil)
        state.onLoop.failure = reason
        endWaiting(reason)
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
        state.onLoop.isResolved = true
        state.onLoop.ownerGeneration += 1
        if state.onLoop.owner != nil || state.onLoop.candidate != nil {
            (state.onLoop.owner, state.onLoop.candidate) = (nil, nil)
            for lane in state.onLoop.lanes.values {
                run(lane.machine.ownerVanished(), lane)
                (lane.generation, lane.hasSchemas) = (lane.generation + 1, false)
            }
            tell(state.onLoop.wasActive ? .interrupted : .connecting)
        }
        guard let owner, let connection = state.onLoop.connection else {
            for lane in state.onLoop.lanes.values { lane.machine.ownerAbsent() }
            return admitWaiting()
        }
        let generation = state.onLoop.ownerGeneration
        state.onLoop.candidate = owner
        // It is not asked before it is believed: see `believe`.
        for lane in state.onLoop.lanes.values { _ = lane.machine.ownerAppeared(isNew: isNew) }
        requirement.check(owner, on: connection) { [weak self] verdict in
            guard let self, state.onLoop.ownerGeneration == generation else { return }
            switch verdict {
            case .success: believe(owner)
            // It left before the bus was asked: `NameOwnerChanged` follows.
            case .failure(let error) where error.code == .unavailable: resolveAgain()
            case .failure(let error):
                fail(
                    RelayError(
                        .notPermitted,
                        "\(service) is owned by a peer that does not meet the requirement: \(error.message)",
                        cause: error))
            }
        }
    }
    func believe(_ owner: String) {
        (state.onLoop.owner, state.onLoop.candidate) = (owner, nil)
        for lane in state.onLoop.lanes.values { run(lane.machine.unanswered(), lane) }
        admitWaiting()
        settle()
    }
    /// The owner does not answer, and nothing was heard of its departure: `NameOwnerChanged` gets lost like any signal when
    /// this relay is too slow for the bus.
    func resolveAgain() {
        guard let connection = state.onLoop.connection else { return }
        let generation = state.onLoop.ownerGeneration
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(service)
            connection.send(.toBus("GetNameOwner", try Signature("s"), body: body.bytes)) { [weak self] result in
                guard let self, state.onLoop.ownerGeneration == generation else { return }
                let owner = try? result.get().read("s") { try $0.string() }
                if owner != state.onLoop.owner ?? state.onLoop.candidate { resolved(owner, isNew: true) }
            }
        } catch {
            fail(error)
        }
    }

    // MARK: States

    /// Active once every lane is in step.
    func settle() {
        guard state.onLoop.owner != nil, state.onLoop.lanes.values.allSatisfy(\.machine.isSettled) else { return }
        state.onLoop.wasActive = true
        tell(.active)
    }
    func tell(_ new: EventRelay.State) {
        if state.onLoop.isInvalidated || state.onLoop.told.isSame(as: new) { return }
        state.onLoop.told = new
        sink.state(new)
    }
}
