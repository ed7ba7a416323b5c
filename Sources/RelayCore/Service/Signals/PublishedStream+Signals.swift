import Synchronization

/// The signal stream: what the bus is given of an interface's events, and what it is told when it is not given them.
///
/// Everything here is done under the stream's lock.
extension PublishedStream {
    /// Sends the event that has the stream's sequence, unless signals are paused, or pause here: then `Head` tells of it.
    func send(
        _ message: borrowing WireWriter, _ template: MessageTemplate, on connection: BusConnection,
        _ state: inout State
    ) {
        let count = if case .attached = state.audience { state.listeners.count } else { 1 }
        if count == 0 || state.gate.isPaused { return }
        guard state.gate.admits(state.sequence, signals: count, now: MonotonicClock.now),
            state.pressure?.admits(message.count * count, messages: count) != false
        else { return pause(connection, &state) }
        switch state.audience {
        case .everyone:
            // A connection that is gone ends the service's run; see `publish`.
            try? connection.send(message)
        case .attached:
            let body = Array(message.bytes[template.bodyStart...])
            for peer in state.listeners {
                var header = template.header
                header.destination = peer
                try? connection.send(header, body: body)
            }
        }
    }

    // MARK: Pausing

    /// When a pause is first looked at.
    private static var firstLook: Duration { .milliseconds(100) }

    private func pause(_ connection: BusConnection, _ state: inout State) {
        state.gate.pause(before: state.sequence, now: MonotonicClock.now)
        arePaused.store(true, ordering: .relaxed)
        orderLook(connection, after: Self.firstLook)
    }
    private func orderLook(_ connection: BusConnection, after pace: Duration) {
        connection.loop.schedule(after: pace) { [weak self] in self?.lookAtPause() }
    }
    private func lookAtPause() {
        state.withLock { state in
            guard let connection = state.connection, let pressure = state.pressure else { return }
            // Before the first signal that follows, so that what was left out is told by its range.
            if state.announced != state.sequence { announce(&state) }
            let now = MonotonicClock.now
            let (isHigh, pace) = pressure.look(now)
            if state.announced == state.sequence, state.gate.tick(state.sequence, isPressed: isHigh, now: now) {
                arePaused.store(false, ordering: .relaxed)
            } else {
                orderLook(connection, after: pace)
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
        if send(head: "Head", &state) { state.announced = state.sequence }
    }
    /// Before a reply to a peer: while signals are paused it does not see what was published before, but by this. One that reads
    /// the ring does.
    func announce(beforeReplyTo peer: String) {
        if !arePaused.load(ordering: .relaxed) { return }
        state.withLock { state in
            let isWaiting = state.subscribers[peer] != nil && state.ring?.readers[peer] == nil
            if state.gate.isPaused && state.announced != state.sequence && isWaiting {
                send(head: "Head", to: [peer], &state)
            }
        }
    }
    /// Reports how far the interface has come to those who get its events as signals, or to `some`; a run's end also to those
    /// who read the ring. Returns false if the bus holds too much even for that, which the last word ignores.
    @discardableResult
    func send(head member: String, to some: [String]? = nil, _ state: inout State) -> Bool {
        guard let connection = state.connection else { return false }
        let head = StreamHead(epoch: epoch, sequence: state.sequence, last: last(state))
        var body = WireWriter()
        var header = headTemplate.header
        header.member = member
        // Neither the head nor its sending can fail but by a bus that is gone.
        try? Stream1.write(head, into: &body)
        let peers: [String?] =
            if let some {
                some
            } else if case .attached(let peers) = state.audience {
                member == "Head" ? state.listeners : Array(peers)
            } else {
                [nil]
            }
        let count = (headTemplate.bodyStart + body.count) * peers.count
        let isAdmitted = state.pressure?.admitsHead(count, messages: peers.count) != false
        if !isAdmitted && member == "Head" { return false }
        for peer in peers {
            header.destination = peer
            try? connection.send(header, body: body.bytes)
        }
        return true
    }
    func last(_ state: borrowing State) -> [String: UInt64] {
        var last = state.history?.former ?? [:]
        for (name, sequence) in zip(names, state.last) where sequence > 0 { last[name] = sequence }
        return last
    }
}
