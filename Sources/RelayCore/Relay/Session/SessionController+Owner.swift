/// The owner of the service's name: asked for, verified, started.
extension SessionController {
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
            calls.endWaiting(
                RelayError(.unavailable, "\(service) is not running: \(error.message)", cause: error))
        }
    }
    /// Starts a service that is known to be absent, if there is a subscription.
    func startIfWanted() {
        guard activation.startsService, !state.onLoop.streamsInOrder.isEmpty, case .nobody = callRoute else { return }
        startService()
    }
    func askForOwner(_ generation: Int) {
        guard let connection = state.onLoop.connection else { return }
        askBus("GetNameOwner", connection) { [weak self] result in
            guard let self else { return }
            if state.onLoop.connection === connection { state.onLoop.backoff.reset() }
            switch state.onLoop.session.ownerAnswered(Self.ownership(result), to: generation) {
            case .changed(let change): ownerChanged(change)
            case .askAgain(let generation):
                schedule(after: Self.patience) { session in
                    if session.ownerGeneration == generation { session.askForOwner(generation) }
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
    /// The owner does not answer, and nothing was heard of its departure: `NameOwnerChanged` gets lost like any signal
    /// when this relay is too slow for the bus.
    func askForOwner() { askForOwner(ownerGeneration) }

    func ownerChanged(_ change: ServiceSession<HeldSignal>.OwnerChange) {
        switch change {
        case .ignored: break
        case .absent:
            ownerAbsent()
            startIfWanted()
        case .appeared(let candidate): ownerAppeared(candidate)
        case .vanished(let loss):
            let wasNew = loop.now < state.onLoop.newUntil
            forgetOwner(loss) { $0.ownerVanished() }
            ownerAbsent()
            // It had decided to end when this relay attached: see `EventRelay.Activation.onDemand`.
            // Without a subscription nothing is started: calls in between do not count.
            if state.onLoop.earlyDepartures.startsAgain(wasNew: wasNew && !streams.isEmpty) {
                schedule(after: Self.patience) { $0.startIfWanted() }
            }
        case .replaced(let loss, by: let candidate):
            forgetOwner(loss) { $0.ownerVanished() }
            ownerAppeared(candidate)
        }
    }
    private func ownerAbsent() {
        for stream in streams { for member in stream.members { member.machine.ownerAbsent() } }
        calls.admitWaiting(self)
    }
    private func ownerAppeared(_ candidate: ServiceSession<HeldSignal>.Candidate) {
        // It is not asked before it is verified: see `ownerVerified`.
        for stream in streams {
            for member in stream.members { _ = member.machine.ownerAppeared(isNew: candidate.isNew) }
        }
        verify(candidate)
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
                if ownerGeneration == candidate.generation { askForOwner() }
            // Without an answer nothing is known about the owner.
            case .failure: orderRecheck(candidate.generation)
            }
        }
    }
    private func ownerVerified(_ generation: Int) {
        guard case .deliver(let held) = state.onLoop.session.ownerVerified(generation) else { return }
        state.onLoop.newUntil = MonotonicClock.deadline(after: .seconds(2), from: loop.now)
        for signal in held { signal.stream.signal(signal, self) }
        for stream in streams { stream.askOwner(self) { _ in true } }
        calls.admitWaiting(self)
        settle()
    }
    private func orderRecheck(_ generation: Int) {
        schedule(after: Self.patience) { session in
            switch session.state.onLoop.session.recheck(generation) {
            case .ignored: break
            case .verify(let candidate): session.verify(candidate)
            case .askOwner: for stream in session.streams { stream.askOwner(session) { !$0.machine.isSettled } }
            }
        }
    }
}
