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

/// A signal's whole body: the fields, padding, and the stamp, which is empty until the event has its place.
package struct EventBody: Sendable {
    package private(set) var bytes: [UInt8]
    package let fieldsLength: Int

    /// Takes what was written: the fields.
    package init(_ fields: inout WireWriter) {
        fieldsLength = fields.count
        for _ in 0..<3 { fields.uint64(0) }
        bytes = fields.takeBytes()
    }
    /// Fills the stamp in, in place if nobody else holds this body.
    package mutating func stamp(_ sequence: UInt64, previous: UInt64, at time: UInt64) {
        let stamp = bytes.count - 24
        bytes.withUnsafeMutableBytes { bytes in
            // `init` made the room.
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: stamp, as: UInt64.self)
            bytes.storeBytes(of: previous.littleEndian, toByteOffset: stamp + 8, as: UInt64.self)
            bytes.storeBytes(of: time.littleEndian, toByteOffset: stamp + 16, as: UInt64.self)
        }
    }
}
