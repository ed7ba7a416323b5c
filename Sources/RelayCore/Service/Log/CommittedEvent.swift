/// An event that was committed, and is to leave.
package struct CommittedEvent: Sendable {
    /// Its number among the interface's events.
    package let event: Int
    package let sequence: UInt64
    /// A signal's whole body: the fields, then the stamp.
    package let body: [UInt8]
    /// How many of the body's bytes are the fields; padding and stamp follow.
    package let fieldsLength: Int

    /// - Parameter body: with its stamp.
    package init(event: Int, sequence: UInt64, body: EventBody) {
        (self.event, self.sequence) = (event, sequence)
        (self.body, fieldsLength) = (body.bytes, body.fieldsLength)
    }
    /// The stamp's values; nil for a body that is none.
    var place: PlacedEvent? {
        let stamp = body.count - 3 * 8
        guard stamp >= 0, 0...stamp ~= fieldsLength else { return nil }
        return body.withUnsafeBytes { body in
            // Within the body: checked above.
            let previous = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: stamp + 8, as: UInt64.self))
            let time = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: stamp + 16, as: UInt64.self))
            return PlacedEvent(
                index: event, sequence: sequence, previous: previous, publishedAt: Timestamp(microseconds: time))
        }
    }
}

/// Where the committed events of one interface leave.
package protocol CommittedEventSink: AnyObject, Sendable {
    /// The time to stamp events with: a test may have set it.
    var now: Timestamp { get }
    /// Sends events, in the order of their sequences. By the committing thread alone.
    func emit(_ events: [CommittedEvent])
    /// Tells that of these names everything up to these sequences was removed.
    func pruned(_ last: [String: UInt64])
}
extension CommittedEventSink {
    package var now: Timestamp { .now }
}
