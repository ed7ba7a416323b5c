/// Calls: sent to the owner, or waiting until it is known.
extension FollowerCore {
    func methodCall(_ call: IncomingCall) {
        state.onLoop.connection?.fail(
            call, ErrorNames.unknownObject, "nothing is exported here: this is a relay of \(service)")
    }
    /// Sends a call, or lets it wait until it is known to whom.
    func admit(_ waiting: WaitingCall) {
        if waiting.ticket.isCancelled { return waiting.end(Self.cancelled) }
        if let reason = state.onLoop.failure { return waiting.end(reason) }
        if !state.onLoop.isActivated {
            return waiting.completion(
                .failure(RelayError(.unavailable, "the relay of \(service) is not active: call activate() first")))
        }
        guard let connection = state.onLoop.connection, state.onLoop.isResolved else {
            if state.onLoop.wasActive && state.onLoop.connection == nil {
                return waiting.end(RelayError(.unavailable, "\(waiting.call.title): the bus is gone"))
            }
            return wait(waiting)
        }
        var call = waiting.call
        if let owner = state.onLoop.owner {
            call.destination = owner
        } else if state.onLoop.candidate != nil {
            return wait(waiting)
        } else if !requirement.isAnyone {
            // Whom the bus would start is not known yet: it is started first, and looked at.
            guard activation.startsService else {
                return waiting.end(RelayError(.unavailable, "\(service) is not running"))
            }
            wait(waiting)
            return startService()
        }
        if !activation.startsService { call.flags.insert(.noAutoStart) }
        waiting.ticket.connection = connection
        waiting.ticket.serial = connection.send(call, timeout: waiting.timeLeft, completion: waiting.completion)
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
