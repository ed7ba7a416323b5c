/// What one event's payloads in a ring are, which are the fields alone: as the owner reports them, each is read by this.
final class PayloadFormat: Sendable {
    let name: String
    /// The sender's.
    let fields: [WireField]
    /// Of a signal of the event: its fields and the stamp.
    let signature: String
    /// The payload is the value's own bytes.
    let transcoder: FixedLayoutTranscoder?
    /// Of those bytes; nil: the payload is in the wire encoding.
    private let layout: PayloadLayout?
    private let types: [DBusType]

    /// - Parameters:
    ///   - event: as the owner's list has it.
    ///   - schemas: what the owner reported of its events' fields, which payloads in the wire encoding have.
    /// - Throws: `SchemaMismatch` or `InvalidArgument` for an event that nobody could read.
    init(_ event: RingEvent, _ schemas: StreamSchemas) throws(RelayError) {
        (name, layout) = (event.name, PayloadLayout(event))
        if let size = event.rawSize {
            let transcoder = try FixedLayoutTranscoder(layout: event.layout, size: size)
            (fields, self.transcoder) = (transcoder.fields, transcoder)
        } else if let fields = schemas.fields(schemas.present(of: event.name)) {
            (self.fields, transcoder) = (fields, nil)
        } else {
            throw RelayError(.schemaMismatch, "the service does not report the fields of \(event.name)")
        }
        let schema = try WireSchema(fields: fields)
        types = try Signature(schema.signature).types
        signature = schema.signature + WireSchema.stampSignature
    }
    /// Whether the payload is a value's own bytes, of this layout.
    func has(_ layout: PayloadLayout?) -> Bool { layout != nil && self.layout == layout }

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
            } catch { throw error.relayError("\(name), a payload of the ring,") }
            writer.append(payload)
        }
        writer.uint64(stamp.sequence)
        writer.uint64(stamp.previous)
        writer.uint64(stamp.publishedAt.microseconds)
        return writer.bytes
    }
}

/// How a value lies in memory: two sides with the same copy the same bytes.
struct PayloadLayout: Hashable, Sendable {
    private let size: Int
    private let fingerprint: UInt64

    /// Nil for a payload in the wire encoding.
    init?(_ event: RingEvent) {
        guard let size = event.rawSize else { return nil }
        (self.size, fingerprint) = (size, event.fingerprint)
    }
    /// The layout of a type; nil where its payloads are in the wire encoding.
    ///
    /// Throws `UnsupportedType` with type, field and reason.
    static func of<E: DomainEvent>(_ type: E.Type) throws -> Self? { Self(try RingEvent(type)) }
}
