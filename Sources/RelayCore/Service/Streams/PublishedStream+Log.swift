import Synchronization

/// A durable interface's stream: the log gives the sequences, and the stream sends what was committed.
extension PublishedStream: CommittedEventSink {
    /// Goes on where the log stands. Before that, and without it, the stream is a volatile interface's.
    func begin(_ run: LogSnapshot, _ templates: [MessageTemplate]) {
        state.withLock { state in
            // Whoever has the log may have published already; nobody was there to hear it.
            state.sequence = max(state.sequence, run.head)
            for (index, name) in names.enumerated() { state.last[index] = max(state.last[index], run.last[name] ?? 0) }
            state.templates = templates
            state.history = StreamHistory(run, names: Set(names))
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
            // Before the signal, which takes longer.
            putIntoRing(event, state)?.wakeSleepers()
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
    private func putIntoRing(_ event: CommittedEvent, _ state: borrowing State) -> RingWriter? {
        // The stamp is the body's end.
        let stamp = event.body.count - 3 * 8
        guard state.ring != nil, 0...stamp ~= event.fieldsLength else { return nil }
        return event.body.withUnsafeBytes { body in
            // Within the body: looked at above.
            let previous = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: stamp + 8, as: UInt64.self))
            let time = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: stamp + 16, as: UInt64.self))
            let record = RingRecord(
                kind: event.event, sequence: event.sequence, previous: previous,
                publishedAt: Timestamp(microseconds: time))
            return putIntoRing(record, UnsafeRawBufferPointer(rebasing: body[..<event.fieldsLength]), state)
        }
    }
    func pruned(_ last: [String: UInt64]) { state.withLock { $0.history?.prune(last) } }

    /// A page up to here goes out: whoever has it may say so in `Attach`, though its last events were not emitted yet.
    func handOut(through sequence: UInt64) { state.withLock { $0.handedOut = max($0.handedOut, sequence) } }
}
