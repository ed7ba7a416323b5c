/// An event as it lies in a message or in a ring. Valid during the call that shows it.
package struct RawEvent {
    /// What tells its fields; nil before the service has answered, and where a shape does.
    let schemas: LaneSchemas?
    /// nil: the present one's number is not known.
    let schema: UInt32?
    /// Of a signal's body; empty for a payload.
    let signature: UnsafeRawBufferPointer
    /// A signal's, or a payload of a ring, which has no stamp.
    let body: UnsafeRawBufferPointer
    /// It came by itself, not in a page of the journal.
    let isLive: Bool
    /// Of a ring's payload.
    let shape: RingShape?

    init(
        schemas: LaneSchemas?, schema: UInt32?, signature: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        isLive: Bool
    ) {
        (self.schemas, self.schema, self.signature, self.body) = (schemas, schema, signature, body)
        (self.isLive, shape) = (isLive, nil)
    }
    @inline(__always) init(_ shape: RingShape, payload: UnsafeRawBufferPointer) {
        (schemas, schema, signature) = (nil, nil, UnsafeRawBufferPointer(start: nil, count: 0))
        (body, isLive, self.shape) = (payload, true, shape)
    }

    /// For who knows no types: as a signal has it, whatever brought it.
    ///
    /// Throws `InvalidArgument` for a ring's payload that is not what its service told.
    func envelope(_ interface: String, _ name: String, _ stamp: Stamp) throws(RelayError) -> Envelope {
        if let shape {
            return Envelope(
                interface: interface, name: name, signature: shape.signature, body: try shape.body(body, stamp),
                stamp: stamp, fields: shape.fields, lane: .ring)
        }
        return Envelope(
            interface: interface, name: name, signature: String(decoding: signature, as: UTF8.self),
            body: Array(body), stamp: stamp, fields: schemas?.fields(schema),
            lane: isLive ? .signal : .journal)
    }

    /// The last 24 bytes of a body: three numbers, aligned as the body is.
    static func stamp(of body: UnsafeRawBufferPointer, epoch: UInt64) -> Stamp? {
        guard body.count >= 24, body.count % 8 == 0 else { return nil }
        func number(_ offset: Int) -> UInt64 {
            // In bounds: counted above.
            UInt64(littleEndian: body.loadUnaligned(fromByteOffset: body.count - 24 + offset, as: UInt64.self))
        }
        return Stamp(
            epoch: epoch, sequence: number(0), previous: number(8), publishedAt: Timestamp(microseconds: number(16)))
    }
}
