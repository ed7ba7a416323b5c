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
            connection.send(
                .toBus(member, signature, body: body.bytes), timeout: timing.start, completion: completion)
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
        guard activation.startsService, streams.contains(where: \.isWanted), case .nobody = callRoute else { return }
        startService()
    }
    func askBusForOwner() {
        guard let connection = state.onLoop.connection else { return }
        cancelInquiry()
        state.onLoop.askedAt = loop.now
        connection.askOwner(of: service) { [weak self] ownership in
            guard let self, state.onLoop.connection === connection else { return }
            state.onLoop.backoff.reset()
            ownerAnswered(ownership)
        }
    }
    private func ownerAnswered(_ ownership: NameOwnership) {
        let isWaiting = isWaiting
        let answer = state.onLoop.session.ownerAnswered(ownership, isWaiting: isWaiting)
        follow(answer.next)
        ownerChanged(answer.change)
        if answer.isToBeRechecked { orderRecheck(ownerGeneration) }
        if answer.isToBeCompared { for stream in streams { stream.suspectLoss(self) } }
    }
    /// The owner does not answer, and nothing was heard of its departure.
    func askForOwner() { follow(state.onLoop.session.ownerOwes()) }

    // MARK: Asking again

    /// Somebody waits for something that only the owner can do, or for a stream that is out of step.
    private var isWaiting: Bool {
        guard let connection = state.onLoop.connection else { return false }
        return connection.isCalling || !calls.isIdle || streams.contains { !$0.isSettled || $0.isCatchingUp }
    }
    /// Something begins to wait.
    func noteWaiting() { follow(state.onLoop.session.beganWaiting()) }
    /// A stranger's message has come: what it took of the bus's room may have cost another one.
    func noteStranger() {
        if !state.onLoop.session.suspectsLoss { state.onLoop.connection?.doubtOwners() }
        follow(state.onLoop.session.strangerSent())
    }
    private func follow(_ inquiry: ServiceSession<HeldSignal>.Inquiry) {
        switch inquiry {
        case .ignored: break
        case .ask: askBusForOwner()
        case .order(let pace):
            cancelInquiry()
            // A test's bus loses nothing, and its time is moved by days.
            if bus.linked != nil && pace != .soon { return }
            let window = window(of: pace)
            state.onLoop.inquiryTimer = loop.schedule(after: window.delay, slack: window.slack) { [weak self] in
                guard let self else { return }
                state.onLoop.inquiryTimer = nil
                let isWaiting = isWaiting
                follow(state.onLoop.session.inquiryDue(isWaiting: isWaiting))
            }
        }
    }
    private func cancelInquiry() {
        if let timer = state.onLoop.inquiryTimer.take() { loop.cancel(timer: timer) }
    }
    private func window(of pace: ServiceSession<HeldSignal>.Pace) -> TimerWindow {
        switch pace {
        case .soon: return TimerWindow(delay: timing.retry, slack: .zero)
        case .prompt: return timing.prompt
        case .leisurely:
            var window = timing.leisurely
            window.delay -= .nanoseconds(Int64(clamping: loop.now &- state.onLoop.askedAt))
            window.delay = max(.zero, window.delay)
            return window
        }
    }

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
            if state.onLoop.earlyDepartures.startsAgain(wasNew: wasNew && streams.contains(where: \.isWanted)) {
                schedule(after: timing.retry) { $0.startIfWanted() }
            }
        case .replaced(let loss, by: let candidate):
            forgetOwner(loss) { $0.ownerVanished() }
            ownerAppeared(candidate)
        }
        // Without an owner everything waits for the next.
        if owner == nil { noteWaiting() }
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
        state.onLoop.newUntil = MonotonicClock.deadline(after: timing.newOwner, from: loop.now)
        for signal in held { signal.stream.signal(signal, self) }
        for stream in streams { stream.askOwner(self) { _ in true } }
        calls.admitWaiting(self)
        settle()
    }
    private func orderRecheck(_ generation: Int) {
        schedule(after: timing.retry) { session in
            switch session.state.onLoop.session.recheck(generation) {
            case .ignored: break
            case .verify(let candidate): session.verify(candidate)
            // For pages: whatever became of an `Attach`, it is repeated by itself.
            case .askOwner:
                for stream in session.streams {
                    stream.askOwner(session) { $0.machine.isReading || $0.search != nil }
                }
            }
        }
    }
}
