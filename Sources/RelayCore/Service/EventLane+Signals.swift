import Synchronization

/// The signal lane: what the bus is given of an interface's events, and what it is told when it is not given them.
///
/// Everything here is done under the lane's lock.
extension EventLane {
    /// What may wait in libdbus because the bus takes it slower than it is published. Past it signals are left out until it
    /// is half empty, which subscribers see as a gap.
    static var outgoingLimit: Int { 64 << 20 }
    /// How many bytes go out between two looks at that.
    private static var checkEvery: Int { 1 << 20 }

    func send(
        _ message: borrowing WireWriter, _ template: MessageTemplate, on connection: BusConnection,
        _ state: inout State
    ) {
        if isCongested(connection, message.count, &state) {
            return
        }
        switch state.audience {
        case .everyone:
            // A connection that is gone ends the service's run; see `publish`.
            try? connection.send(message)
        case .attached(let peers):
            guard !peers.isEmpty else { return }
            let body = Array(message.bytes[template.bodyStart...])
            for peer in peers {
                var header = template.header
                header.destination = peer
                try? connection.send(header, body: body)
            }
        }
    }
    private func isCongested(_ connection: BusConnection, _ count: Int, _ state: inout State) -> Bool {
        state.sentSinceCheck += count
        if state.sentSinceCheck > Self.checkEvery || state.isCongested {
            state.sentSinceCheck = 0
            let limit = state.isCongested ? Self.outgoingLimit / 2 : Self.outgoingLimit
            state.isCongested = connection.outgoingBytes > limit
        }
        return state.isCongested
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
            guard let connection = state.connection else { return }
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
