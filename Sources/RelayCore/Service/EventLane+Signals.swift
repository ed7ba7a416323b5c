import Synchronization

/// The signal lane: what the bus is given of an interface's events, and what it is told when it is not given them.
///
/// Everything here is done under the lane's lock.
extension EventLane {
    /// Sends the event that has the lane's sequence, unless signals are paused, or pause here: then `Head` tells of it.
    func send(
        _ message: borrowing WireWriter, _ template: MessageTemplate, on connection: BusConnection,
        _ state: inout State
    ) {
        let count = if case .attached(let peers) = state.audience { peers.count } else { 1 }
        if count == 0 || state.gate.isPaused { return }
        guard state.gate.admits(state.sequence, signals: count, now: MonotonicClock.now),
            state.pressure?.admits(message.count * count) != false
        else { return pause(connection, &state) }
        switch state.audience {
        case .everyone:
            // A connection that is gone ends the service's run; see `publish`.
            try? connection.send(message)
        case .attached(let peers):
            let body = Array(message.bytes[template.bodyStart...])
            for peer in peers {
                var header = template.header
                header.destination = peer
                try? connection.send(header, body: body)
            }
        }
    }

    // MARK: Pausing

    /// How often a pause is looked at, and announces how far the interface has come.
    private static var pauseTick: Duration { .milliseconds(100) }

    private func pause(_ connection: BusConnection, _ state: inout State) {
        state.gate.pause(before: state.sequence, now: MonotonicClock.now)
        arePaused.store(true, ordering: .relaxed)
        orderPauseTick(connection)
    }
    private func orderPauseTick(_ connection: BusConnection) {
        connection.loop.schedule(after: Self.pauseTick) { [weak self] in self?.tickOfPause() }
    }
    private func tickOfPause() {
        state.withLock { state in
            guard let connection = state.connection else { return }
            // Before the first signal that follows, so that what was left out is told by its range.
            if state.announced != state.sequence { announce(&state) }
            let isPressed = state.pressure?.isHigh == true
            if state.gate.tick(state.sequence, isPressed: isPressed, now: MonotonicClock.now) {
                arePaused.store(false, ordering: .relaxed)
            } else {
                orderPauseTick(connection)
            }
        }
    }

    // MARK: Head

    func orderTick(_ connection: BusConnection, _ state: inout State) {
        state.hasTick = true
        state.seenByTick = state.sequence
        connection.loop.schedule(after: .seconds(1)) { [weak self] in self?.tick() }
    }
    /// After a quiet second following events: announces where the run stands.
    private func tick() {
        state.withLock { state in
            state.hasTick = false
            // While signals are paused, the pause's ticks announce.
            guard let connection = state.connection, !state.gate.isPaused else { return }
            if state.sequence != state.seenByTick {
                orderTick(connection, &state)
            } else if state.announced != state.sequence {
                announce(&state)
            }
        }
    }
    func announce(_ state: inout State) {
        state.announced = state.sequence
        send(head: "Head", &state)
    }
    func send(head member: String, _ state: inout State) {
        guard let connection = state.connection else { return }
        let head = StreamHead(epoch: epoch, sequence: state.sequence, last: last(state))
        var body = WireWriter()
        var header = headTemplate.header
        header.member = member
        // Neither the head nor its sending can fail but by a bus that is gone.
        try? Stream1.write(head, into: &body)
        switch state.audience {
        case .everyone: try? connection.send(header, body: body.bytes)
        case .attached(let peers):
            for peer in peers {
                header.destination = peer
                try? connection.send(header, body: body.bytes)
            }
        }
    }
    func last(_ state: borrowing State) -> [String: UInt64] {
        var last = state.history?.former ?? [:]
        for (name, sequence) in zip(names, state.last) where sequence > 0 { last[name] = sequence }
        return last
    }
}
