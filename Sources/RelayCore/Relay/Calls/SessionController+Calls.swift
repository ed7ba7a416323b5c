/// Calls: sent to the owner, or waiting until it is known.
extension SessionController {
    func methodCall(_ call: IncomingCall) {
        state.onLoop.connection?.fail(
            call, ErrorNames.unknownObject, "nothing is exported here: this is a relay of \(service)")
    }
    /// Sends a call, or lets it wait until it is known to whom.
    func admit(_ waiting: WaitingCall) {
        if waiting.ticket.isCancelled { return waiting.end(Self.cancelled) }
        let route = state.onLoop.session.callRoute
        var call = waiting.call
        switch route {
        case .inactive:
            return waiting.end(
                RelayError(.unavailable, "the relay of \(service) is not active: call activate() first"))
        case .over: return waiting.end(state.onLoop.failure ?? Self.cancelled)
        case .cutOff:
            return waiting.end(RelayError(.unavailable, "\(waiting.call.title): the bus is gone"))
        case .wait: return wait(waiting)
        case .owner(let owner):
            // Whoever subscribes and then calls sees the events of the call: its `Attach` goes first.
            let isAsking = state.onLoop.streamsInOrder.contains { $0.transport.phase == .asking }
            if isAsking { return wait(waiting) }
            call.destination = owner
        case .nobody:
            if requirement.isAnyone { break }
            // Whom the bus would start is not known yet: it is started first, and verified.
            guard activation.startsService else {
                return waiting.end(RelayError(.unavailable, "\(service) is not running"))
            }
            wait(waiting)
            return startService()
        }
        guard let connection = state.onLoop.connection else { return wait(waiting) }
        if !activation.startsService { call.flags.insert(.noAutoStart) }
        waiting.ticket.connection = connection
        waiting.ticket.serial = connection.send(call, timeout: waiting.timeLeft) { [weak self] result in
            if let self { answered(result, waiting) } else { waiting.completion(result) }
        }
    }

    // MARK: Answers

    /// An answer comes behind the events that the service published before it: those in rings, and those that have to be read.
    private func answered(_ result: Result<BusReply, RelayError>, _ call: WaitingCall) {
        drainAll()
        let timeLeft = call.timeLeft
        guard Self.isFromService(result), isCatchingUp, timeLeft > .zero, !call.ticket.isCancelled else {
            return call.completion(result)
        }
        let timer = loop.schedule(after: timeLeft) { [weak self] in self?.release(call.ticket) }
        state.onLoop.heldReplies.append(HeldReply(call: call, result: result, timer: timer))
        rings.holdsReplies = true
    }
    private static func isFromService(_ result: Result<BusReply, RelayError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error): error.cause is RemoteError
        }
    }
    /// The publisher's subscriptions lack something that is on its way to them. (A positioned one has a pace of its own.)
    private var isCatchingUp: Bool {
        state.onLoop.streamsInOrder.contains {
            $0.shared.machine.isReading || $0.ring?.parkedAt != nil || $0.isGoingOver
        }
    }
    /// Completes the answers that waited, if nothing keeps them any more.
    func releaseReplies() {
        if !rings.holdsReplies || isCatchingUp { return }
        let replies = state.onLoop.heldReplies
        (state.onLoop.heldReplies, rings.holdsReplies) = ([], false)
        for reply in replies {
            loop.cancel(timer: reply.timer)
            reply.complete()
        }
    }
    /// This one waits no longer. False: it does not wait.
    @discardableResult private func release(_ ticket: CallTicket) -> Bool {
        guard let index = state.onLoop.heldReplies.firstIndex(where: { $0.call.ticket === ticket }) else {
            return false
        }
        let reply = state.onLoop.heldReplies.remove(at: index)
        loop.cancel(timer: reply.timer)
        reply.complete()
        return true
    }
    private func wait(_ waiting: WaitingCall) {
        if !state.onLoop.waiting.add(waiting) {
            return waiting.end(RelayError(.limitsExceeded, "\(waiting.call.title): too many calls wait for the bus"))
        }
        loop.schedule(after: waiting.timeLeft) { [weak self] in
            self?.drop(waiting.ticket, RelayError(.timedOut, "\(waiting.call.title): no bus in time"))
        }
    }
    func admitWaiting() {
        for waiting in state.onLoop.waiting.takeAll() { admit(waiting) }
    }
    func endWaiting(_ error: RelayError) {
        for waiting in state.onLoop.waiting.takeAll() { waiting.end(error) }
    }
    private static let cancelled = RelayError(.cancelled, "the task was cancelled before its call was sent")
    func cancel(_ ticket: CallTicket) {
        ticket.isCancelled = true
        // It has run: its answer says more than that it was cancelled.
        if release(ticket) { return }
        if let serial = ticket.serial {
            ticket.connection?.cancel(serial)
        } else {
            drop(ticket, Self.cancelled)
        }
    }
    private func drop(_ ticket: CallTicket, _ error: RelayError) {
        state.onLoop.waiting.take(ticket)?.end(error)
    }
}
