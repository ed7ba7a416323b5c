/// An event as it lies where an inlet or a page has it. Valid during the call that shows it, and so are its references:
/// they are not counted, since counting them at each hand would cost more than an event.
package struct RawEvent: BitwiseCopyable {
    private let schemasReference: Unmanaged<StreamSchemas>?
    private let formatReference: Unmanaged<PayloadFormat>?
    /// nil: the present one's number is not known.
    let schema: UInt32?
    /// Of a message's body; empty for a payload.
    let signature: UnsafeRawBufferPointer
    /// A message's, or a payload, which has no stamp.
    let body: UnsafeRawBufferPointer
    /// It came by itself, not in a page of the journal.
    let isLive: Bool

    /// What describes its fields; nil before the service has answered, and where a format does.
    var schemas: StreamSchemas? { schemasReference?.takeUnretainedValue() }
    /// Of a payload; nil: a message.
    var format: PayloadFormat? { formatReference?.takeUnretainedValue() }
    /// The ring brought it.
    @inline(__always) var isPayload: Bool { formatReference != nil }
    @inline(__always) func has(_ format: Unmanaged<PayloadFormat>) -> Bool {
        formatReference?.toOpaque() == format.toOpaque()
    }

    /// A message: its body ends with the stamp.
    ///
    /// - Parameter schemas: kept by the caller during the call.
    init(
        schemas: StreamSchemas?, schema: UInt32?, signature: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        isLive: Bool
    ) {
        (schemasReference, formatReference) = (schemas.map { .passUnretained($0) }, nil)
        (self.schema, self.signature, self.body, self.isLive) = (schema, signature, body, isLive)
    }
    /// The fields alone.
    ///
    /// - Parameter format: kept by the caller during the call.
    @inline(__always) init(_ format: Unmanaged<PayloadFormat>, payload: UnsafeRawBufferPointer) {
        (schemasReference, formatReference) = (nil, format)
        (schema, signature) = (nil, UnsafeRawBufferPointer(start: nil, count: 0))
        (body, isLive) = (payload, true)
    }

    /// For tools, which know no types: as a signal has it, whatever brought it.
    ///
    /// Throws `InvalidArgument` for a payload that is not what its service reported.
    func envelope(_ interface: String, _ name: String, _ stamp: Stamp) throws(RelayError) -> Envelope {
        if let format {
            return Envelope(
                interface: interface, name: name, signature: format.signature, body: try format.body(body, stamp),
                stamp: stamp, fields: format.fields, transport: .ring)
        }
        return Envelope(
            interface: interface, name: name, signature: String(decoding: signature, as: UTF8.self),
            body: Array(body), stamp: stamp, fields: schemas?.fields(schema),
            transport: isLive ? .signal : .journal)
    }
}
