/// The owner of the service's name: asked for, verified, started.
extension SessionController: ServiceOwnerHandler {
    /// Retrying will not help.
    func fail(_ error: RelayError) { fail(owner.state.onLoop.session.end(), error) }
    /// Starts a service that is known to be absent, if there is a subscription.
    func startIfWanted() {
        guard activation.startsService, streams.areWanted, case .nobody = owner.callRoute else { return }
        calls.startService()
    }
    func askBusForOwner() {
        guard let connection = owner.connection else { return }
        cancelInquiry()
        state.onLoop.askedAt = loop.now
        connection.askOwner(of: service) { [weak self] ownership in
            guard let self, owner.connection === connection else { return }
            state.onLoop.backoff.reset()
            ownerAnswered(ownership)
        }
    }
    private func ownerAnswered(_ ownership: NameOwnership) {
        let isWaiting = isWaiting
        let answer = owner.state.onLoop.session.ownerAnswered(ownership, isWaiting: isWaiting)
        follow(answer.next)
        ownerChanged(answer.change)
        if answer.isToBeRechecked { orderRecheck(owner.generation) }
        if answer.isToBeCompared { for stream in streams.all { stream.suspectLoss() } }
    }

    // MARK: Asking again

    /// Somebody waits for something that only the owner can do, or for a stream that is out of step.
    private var isWaiting: Bool {
        guard let connection = owner.connection else { return false }
        return connection.isCalling || !calls.isIdle || !streams.areSettled || streams.areCatchingUp
    }
    /// A stranger's message has come: what it took of the bus's room may have cost another one.
    func noteStranger() {
        if !owner.state.onLoop.session.suspectsLoss { owner.connection?.doubtOwners() }
        follow(owner.state.onLoop.session.strangerSent())
    }
    func follow(_ inquiry: ServiceSession<HeldSignal>.Inquiry) {
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
                follow(owner.state.onLoop.session.inquiryDue(isWaiting: isWaiting))
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
            let wasNew = loop.now < state.onLoop.departsUntil
            forgetOwner(loss) { $0.ownerVanished() }
            ownerAbsent()
            // It had decided to end when this relay attached: see `EventRelay.Activation.onDemand`.
            // Without a subscription nothing is started: calls in between do not count.
            if state.onLoop.earlyDepartures.startsAgain(wasNew: wasNew && streams.areWanted) {
                loop.schedule(after: timing.retry) { [weak self] in self?.startIfWanted() }
            }
        case .replaced(let loss, by: let candidate):
            forgetOwner(loss) { $0.ownerVanished() }
            ownerAppeared(candidate)
        }
        // Without an owner everything waits for the next.
        if owner.name == nil { owner.noteWaiting() }
    }
    private func ownerAbsent() {
        for stream in streams.all { for member in stream.members { member.machine.ownerAbsent() } }
        calls.admitWaiting()
    }
    private func ownerAppeared(_ candidate: ServiceSession<HeldSignal>.Candidate) {
        // It is not asked before it is verified: see `ownerVerified`.
        for stream in streams.all {
            for member in stream.members { _ = member.machine.ownerAppeared(isNew: candidate.isNew) }
        }
        verify(candidate)
    }
    private func verify(_ candidate: ServiceSession<HeldSignal>.Candidate) {
        guard let connection = owner.connection else { return }
        requirement.check(candidate.name, on: connection, accounts: accounts) { [weak self] verdict in
            guard let self else { return }
            switch verdict {
            case .success: ownerVerified(candidate.generation)
            case .failure(let error) where error.code == .notPermitted:
                let text = "\(service) is owned by a peer that does not meet the requirement: \(error.message)"
                fail(
                    owner.state.onLoop.session.ownerRefused(candidate.generation),
                    RelayError(.notPermitted, text, cause: error))
            // It left before the bus was asked: `NameOwnerChanged` follows.
            case .failure(let error) where error.code == .unavailable:
                if owner.generation == candidate.generation { owner.askForOwner() }
            // Without an answer nothing is known about the owner.
            case .failure: orderRecheck(candidate.generation)
            }
        }
    }
    private func ownerVerified(_ generation: Int) {
        guard case .deliver(let held) = owner.state.onLoop.session.ownerVerified(generation) else { return }
        expectDeparture()
        for signal in held { signal.stream.signal(signal) }
        for stream in streams.all { stream.askOwner { _ in true } }
        calls.admitWaiting()
        streamSettled()
    }
    /// An owner that leaves soon may have decided to before it knew that this relay wants something of it.
    func expectDeparture() {
        state.onLoop.departsUntil = MonotonicClock.deadline(after: timing.newOwner, from: loop.now)
    }
    private func orderRecheck(_ generation: Int) {
        loop.schedule(after: timing.retry) { [weak self] in
            guard let self else { return }
            switch owner.state.onLoop.session.recheck(generation) {
            case .ignored: break
            case .verify(let candidate): verify(candidate)
            // For pages: whatever became of an `Attach`, it is repeated by itself.
            case .askOwner:
                for stream in streams.all { stream.askOwner { $0.machine.isReading || $0.search != nil } }
            }
        }
    }
}
