import Synchronization

/// A durable interface's stream: the log gives the sequences, and the stream emits what was committed.
extension PublishedStream: CommittedEventSink {
    /// Goes on where the log stands. Before that, and without it, the stream is a volatile interface's.
    func begin(_ run: LogSnapshot) {
        state.withLock { state in
            // The log's owner may have published already, before there were subscribers.
            state.place.sequence = max(state.place.sequence, run.head)
            for (index, name) in names.enumerated() {
                state.place.last[index] = max(state.place.last[index], run.last[name] ?? 0)
            }
            let history = StreamHistory(run, names: Set(names))
            (state.history, state.place.former) = (history, history.former)
        }
    }
    package func emit(_ events: [CommittedEvent]) {
        var memory = WireWriter(capacity: 512)
        // Under the lock one by one, so that a large batch does not keep `Attach` waiting: the committing thread is
        // alone, and the order its own.
        for event in events { emit(event, &memory) }
    }
    private func emit(_ committed: CommittedEvent, _ memory: inout WireWriter) {
        state.withLock { state in
            if hasDocuments, isDocument.indices.contains(committed.event), isDocument[committed.event] {
                enter(committed, &state)
            }
            // After the last word nothing leaves, and no answer counts it: it is in the log, for the next run's
            // readers.
            guard !state.hasEnded, names.indices.contains(committed.event) else { return }
            state.place.sequence = committed.sequence
            state.place.last[committed.event] = committed.sequence
            guard let event = committed.place else { return }
            committed.body.withUnsafeBytes { body in
                state.outlets.emit(event, UnsafeRawBufferPointer(rebasing: body[..<committed.fieldsLength]))
            }.wake()
            guard state.outlets.takesMessages else { return }
            var message = EventMessage(templates[event.index], committed, in: &memory)
            state.outlets.send(event, &message, in: self)
            message.takeMemory(into: &memory)
            if hasDocuments { announceDocuments(&state) }
        }
    }
    package func pruned(_ last: [String: UInt64]) { state.withLock { $0.history?.prune(last) } }

    /// A page up to here leaves: the peer that has it may name its last event in `Attach`, before that event was
    /// emitted.
    func handOut(through sequence: UInt64) { state.withLock { $0.handedOut = max($0.handedOut, sequence) } }
}
