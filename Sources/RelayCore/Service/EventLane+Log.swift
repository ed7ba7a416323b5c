import Synchronization

/// A durable interface's lane: the log gives the sequences, and the lane sends what was committed.
extension EventLane: EmittingLane {
    /// Goes on where the log stands. Before that, and without it, the lane is a volatile interface's.
    func begin(_ run: LoggedRun, _ templates: [MessageTemplate]) {
        state.withLock { state in
            // Whoever has the log may have published already; nobody was there to hear it.
            state.sequence = max(state.sequence, run.head)
            for (index, name) in names.enumerated() { state.last[index] = max(state.last[index], run.last[name] ?? 0) }
            state.templates = templates
            state.history = LaneHistory(run, names: Set(names))
        }
    }
    func emit(_ events: [CommittedEvent]) {
        var message = WireWriter(capacity: 512)
        // Under the lock one by one, so that a large batch does not keep `Attach` waiting: the committing thread is alone, and
        // the order its own.
        for event in events { emit(event, &message) }
    }
    private func emit(_ event: CommittedEvent, _ message: inout WireWriter) {
        state.withLock { state in
            // After the last word nothing leaves, and no answer counts it: it is in the log, for the next run's readers.
            guard !state.hasEnded, state.last.indices.contains(event.event) else { return }
            state.sequence = event.sequence
            state.last[event.event] = event.sequence
            guard let connection = state.connection, state.templates.indices.contains(event.event) else { return }
            let template = state.templates[event.event]
            template.begin(&message)
            message.append(event.body)
            // Its size was looked at before it was committed. What could not leave for all that will be missed, and read.
            if (try? template.finish(&message, serial: connection.nextSerial())) != nil {
                send(message, template, on: connection, &state)
            }
            if !state.hasTick { orderTick(connection, &state) }
        }
    }
    func pruned(_ last: [String: UInt64]) { state.withLock { $0.history?.prune(last) } }

    /// A page up to here goes out: whoever has it may say so in `Attach`, though its last events were not emitted yet.
    func handOut(through sequence: UInt64) { state.withLock { $0.handedOut = max($0.handedOut, sequence) } }
}
