import RelayWire

/// A durable interface's stream: the log gives the sequences, and the stream emits what was committed.
extension PublishedStream: CommittedEventSink {
    /// Goes on where the log stands. Before that, and without it, the stream is a volatile interface's.
    ///
    /// - Parameter isOpen: the run is a mirror's, whose origin may have more of it.
    func begin(_ run: LogSnapshot, isOpen: Bool = false) {
        state.withLock { state in
            // The log's owner may have published already, before there were subscribers.
            state.place.sequence = max(state.place.sequence, run.head)
            for (index, name) in names.enumerated() {
                state.place.last[index] = max(state.place.last[index], run.last[name] ?? 0)
            }
            let history = StreamHistory(run, names: Set(names), isOpen: isOpen)
            (state.history, state.place.former) = (history, history.former)
        }
    }
    package func emit(_ events: [(event: LoggedEvent, stamp: Stamp)]) {
        var memory = WireWriter(capacity: 512)
        // Under the lock one by one, so that a large batch does not keep `Attach` waiting: the committing thread is
        // alone, and the order its own.
        for (event, stamp) in events { emit(event, stamp, &memory) }
    }
    private func emit(_ event: LoggedEvent, _ stamp: Stamp, _ memory: inout WireWriter) {
        let index = event.index
        let rest = state.withLock { state -> StreamOutlets.Rest? in
            guard names.indices.contains(index) else {
                // Of another contract than this service's: subscribers read it from the log. The next one follows it.
                state.place.sequence = max(state.place.sequence, stamp.sequence)
                return nil
            }
            if isFollowed(index), let listener {
                event.body.withUnsafeBytes { body in
                    listener.emitted(
                        index, stamp.sequence, UnsafeRawBufferPointer(rebasing: body[..<event.fieldsLength]))
                }
            }
            // After the last word nothing leaves, and no answer counts it: it is in the log, for the next run's
            // readers.
            if state.hasEnded { return nil }
            return event.body.withUnsafeBytes { body in
                let fields = UnsafeRawBufferPointer(rebasing: body[..<event.fieldsLength])
                guard state.outlets.takesMessages else { return emit(index, stamp, fields, &state) }
                var message = EventMessage(templates[index], event, in: &memory)
                emit(index, stamp, &message, fields, &state)
                message.takeMemory(into: &memory)
                if isFollowed(index) { listener?.send(by: &state.outlets, of: self) }
                return nil
            }
        }
        rest?.run()
    }
    package func skipped(_ gap: ClosedRange<UInt64>) {
        state.withLock { state in
            if state.hasEnded { return }
            state.place.skip(through: gap.upperBound)
            state.history?.skip(gap)
            listener?.skipped()
            state.outlets.skipped(gap.upperBound, in: self)
        }
    }
    package func pruned(_ last: [String: UInt64]) { state.withLock { $0.history?.prune(last) } }

    /// A page up to here leaves: the peer that has it may name its last event in `Attach`, before that event was
    /// emitted.
    func handOut(through sequence: UInt64) { state.withLock { $0.handedOut = max($0.handedOut, sequence) } }
}
