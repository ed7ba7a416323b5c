/// A stream's documents: their states change in the places of their entries.
extension PublishedStream {
    /// A document before its first entry in this run. Before the stream is connected.
    func begin(_ number: Int, fields: [UInt8], sequence: UInt64, state value: any Sendable) {
        state.withLock { $0.documents.begin(number, fields: fields, sequence: sequence, state: value) }
    }
    func document(_ number: Int) -> PublishedDocuments.Entry? { state.withLock { $0.documents[number] } }
    /// The state of an entry was read.
    func know(_ number: Int, _ value: any Sendable, of sequence: UInt64) {
        state.withLock { $0.documents.know(number, value, of: sequence) }
    }
    /// Answers with present states, in the place where the answer is true.
    func withDocuments(_ numbers: [Int], _ body: ([PublishedDocuments.Entry]) -> Void) {
        state.withLock { state in body(numbers.compactMap { state.documents[$0] }) }
    }

    /// Gives a new state of a volatile document its place, and emits it. Returns nil, with nothing done, if the
    /// document's last entry is another one than `sequence`.
    ///
    /// Throws `TooLarge`, and `Unavailable` after the end.
    ///
    /// - Parameter placed: is called under the lock, with the entry's sequence.
    func publish(
        document number: Int, _ fields: [UInt8], _ value: any Sendable, after sequence: UInt64,
        placed: (UInt64) -> Void = { _ in }
    ) throws -> UInt64? {
        try check(fields.count, number)
        // Before the lock, as every message.
        var message = try EventMessage(templates[number]) { $0.append(fields) }
        return try state.withLock { state in
            if state.hasEnded { throw ended }
            guard state.documents[number]?.sequence == sequence else { return nil }
            let stamp = next(number, state.place)
            emit(number, stamp, &message, nil, &state)
            state.documents.enter(number, fields: fields, sequence: stamp.sequence, state: value)
            placed(stamp.sequence)
            announceDocuments(&state)
            return stamp.sequence
        }
    }
    /// A durable document's entry was committed: also after the end, for units that are then still under way.
    func enter(_ entry: LoggedEvent, _ stamp: Stamp, _ state: inout State) {
        state.documents.enter(
            entry.index, fields: Array(entry.body[..<entry.fieldsLength]), sequence: stamp.sequence)
    }
    /// Reports what has changed since it was reported last, unless signals are paused: then at the pause's end.
    func announceDocuments() {
        if properties.isEmpty { return }
        state.withLock { announceDocuments(&$0) }
    }
    func announceDocuments(_ state: inout State) {
        if !state.documents.hasUnannounced || state.hasEnded { return }
        // Out of there: both are parts of one value.
        var documents = state.documents
        documents.announce { number, entry in
            guard let property = properties[number] else { return true }
            return state.outlets.announce(property, entry.fields, after: entry.sequence, in: self)
        }
        state.documents = documents
    }
}
