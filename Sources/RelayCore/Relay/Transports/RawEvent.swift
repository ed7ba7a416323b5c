/// An event as it lies in a message or in a ring. Valid during the call that shows it, and so are its references: they
/// are not counted, since counting them at each hand would cost more than an event.
package struct RawEvent: BitwiseCopyable {
    private let schemasReference: Unmanaged<StreamSchemas>?
    private let shapeReference: Unmanaged<RingPayloadFormat>?
    /// nil: the present one's number is not known.
    let schema: UInt32?
    /// Of a signal's body; empty for a payload.
    let signature: UnsafeRawBufferPointer
    /// A signal's, or a payload of a ring, which has no stamp.
    let body: UnsafeRawBufferPointer
    /// It came by itself, not in a page of the journal.
    let isLive: Bool

    /// What describes its fields; nil before the service has answered, and where a shape does.
    var schemas: StreamSchemas? { schemasReference?.takeUnretainedValue() }
    /// Of a ring's payload.
    var shape: RingPayloadFormat? { shapeReference?.takeUnretainedValue() }
    @inline(__always) func has(_ shape: Unmanaged<RingPayloadFormat>) -> Bool {
        shapeReference?.toOpaque() == shape.toOpaque()
    }

    /// - Parameter schemas: kept by the caller during the call.
    init(
        schemas: StreamSchemas?, schema: UInt32?, signature: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        isLive: Bool
    ) {
        (schemasReference, shapeReference) = (schemas.map { .passUnretained($0) }, nil)
        (self.schema, self.signature, self.body, self.isLive) = (schema, signature, body, isLive)
    }
    /// - Parameter shape: kept by the caller during the call.
    @inline(__always) init(_ shape: Unmanaged<RingPayloadFormat>, payload: UnsafeRawBufferPointer) {
        (schemasReference, shapeReference) = (nil, shape)
        (schema, signature) = (nil, UnsafeRawBufferPointer(start: nil, count: 0))
        (body, isLive) = (payload, true)
    }

    /// For who knows no types: as a signal has it, whatever brought it.
    ///
    /// Throws `InvalidArgument` for a ring's payload that is not what its service reported.
    func envelope(_ interface: String, _ name: String, _ stamp: Stamp) throws(RelayError) -> Envelope {
        if let shape {
            return Envelope(
                interface: interface, name: name, signature: shape.signature, body: try shape.body(body, stamp),
                stamp: stamp, fields: shape.fields, transport: .ring)
        }
        return Envelope(
            interface: interface, name: name, signature: String(decoding: signature, as: UTF8.self),
            body: Array(body), stamp: stamp, fields: schemas?.fields(schema),
            transport: isLive ? .signal : .journal)
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
