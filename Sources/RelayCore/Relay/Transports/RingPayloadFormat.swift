/// What a ring's payloads of one event are, as its service reports them: each is read by this.
final class RingPayloadFormat: Sendable {
    let name: String
    /// The sender's.
    let fields: [WireField]
    /// Of a signal of the event: its fields and the stamp.
    let signature: String
    /// The payload is the value's own bytes.
    let transcoder: FixedLayoutTranscoder?
    let rawSize: Int?
    let fingerprint: UInt64
    private let types: [DBusType]

    /// - Parameter schemas: what the service reported of its events' fields, which payloads in the wire encoding have.
    /// Throws `SchemaMismatch` or `InvalidArgument` for an event that nobody could read.
    init(_ event: RingEvent, _ schemas: StreamSchemas) throws(RelayError) {
        (name, rawSize, fingerprint) = (event.name, event.rawSize, event.fingerprint)
        if let size = event.rawSize {
            let transcoder = try FixedLayoutTranscoder(layout: event.layout, size: size)
            (fields, self.transcoder) = (transcoder.fields, transcoder)
        } else if let fields = schemas.fields(schemas.present(of: event.name)) {
            (self.fields, transcoder) = (fields, nil)
        } else {
            throw RelayError(.schemaMismatch, "the service does not tell the fields of \(event.name)")
        }
        let schema = try WireSchema(fields: fields)
        types = try Signature(schema.signature).types
        signature = schema.signature + WireSchema.stampSignature
    }
    /// The body that a signal of it has.
    ///
    /// Throws `InvalidArgument` for a payload that is not what the service reported.
    func body(_ payload: UnsafeRawBufferPointer, _ stamp: Stamp) throws(RelayError) -> [UInt8] {
        var writer = WireWriter(capacity: payload.count + 64)
        if let transcoder {
            try transcoder.transcode(payload, into: &writer)
        } else {
            var reader = WireReader(payload)
            do throws(WireFault) {
                for type in types { try reader.skip(type) }
                try reader.finish()
            } catch { throw error.relayError("\(name), a payload in the ring,") }
            writer.append(payload)
        }
        writer.uint64(stamp.sequence)
        writer.uint64(stamp.previous)
        writer.uint64(stamp.publishedAt.microseconds)
        return writer.bytes
    }
}
