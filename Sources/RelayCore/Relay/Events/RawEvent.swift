import RelayWire

/// An event on its way, as it lies where an inlet or a page has it. Valid during the call that shows it, and so is its
/// format: it is not counted, since counting it at each hand would cost more than an event.
package struct RawEvent {
    /// Its place. A signal does not name the run, which is 0 until the stream's machine has said it.
    private(set) var stamp: Stamp
    private var formatReference: Unmanaged<EventFormat>?
    /// The number of a schema that the owner does not report.
    let unknownSchema: UInt32?
    /// Of a whole body; empty for a payload.
    let signature: UnsafeRawBufferPointer
    /// The fields and the stamp; of a payload, which the ring brings, the fields alone.
    let body: UnsafeRawBufferPointer
    let transport: Envelope.Transport

    /// How its body is read; nil before the service has reported its schemas.
    var format: EventFormat? { formatReference?.takeUnretainedValue() }
    @inline(__always) func has(_ format: EventFormat?) -> Bool {
        formatReference?.toOpaque() == format.map { Unmanaged.passUnretained($0).toOpaque() }
    }
    @inline(__always) func has(_ format: Unmanaged<EventFormat>) -> Bool {
        formatReference?.toOpaque() == format.toOpaque()
    }
    @inline(__always) var isPayload: Bool { transport == .ring }

    /// A whole body.
    ///
    /// - Parameter format: kept by the caller during the call.
    init(
        _ transport: Envelope.Transport, _ stamp: Stamp, _ format: Unmanaged<EventFormat>?,
        unknown schema: UInt32? = nil, signature: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) {
        (self.transport, self.stamp, formatReference, unknownSchema) = (transport, stamp, format, schema)
        (self.signature, self.body) = (signature, body)
    }
    /// A payload of the ring.
    ///
    /// - Parameter format: kept by the caller during the call.
    @inline(__always) init(_ stamp: Stamp, _ format: Unmanaged<EventFormat>, payload: UnsafeRawBufferPointer) {
        (transport, self.stamp, formatReference, unknownSchema) = (.ring, stamp, format, nil)
        (signature, body) = (UnsafeRawBufferPointer(start: nil, count: 0), payload)
    }

    /// The same in a run.
    @inline(__always) func inEpoch(_ epoch: UInt64) -> RawEvent {
        var event = self
        event.stamp = stamp.inEpoch(epoch)
        return event
    }
    /// The same, as its event is known now: a signal that was held may be older than the answer with the schemas.
    func known(by format: EventFormat?) -> RawEvent {
        var event = self
        if !isPayload { event.formatReference = format.map { .passUnretained($0) } }
        return event
    }

    /// For tools, which know no types: as a signal has it, whatever brought it.
    ///
    /// Throws `InvalidArgument` for a payload that is not what its service reported.
    func envelope(_ interface: String, _ name: String) throws(RelayError) -> Envelope {
        let format = format
        let isWhole = !isPayload
        return Envelope(
            interface: interface, name: name,
            signature: isWhole ? String(decoding: signature, as: UTF8.self) : format?.signature ?? "",
            body: isWhole ? Array(body) : try format?.body(body, stamp) ?? [], stamp: stamp, fields: format?.fields,
            transport: transport)
    }
}
