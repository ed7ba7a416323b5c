import RelayWire

/// What the bodies of one event are, as its owner reports them: whole ones, by the schema that they were written with,
/// or payloads of a ring, which are the fields alone. Each body is read by its format.
package final class EventFormat: Sendable {
    let name: String
    /// The schema's; nil for payloads.
    let number: UInt32?
    /// The sender's.
    let fields: [WireField]
    /// Of a signal of the event: its fields and the stamp.
    let signature: String
    /// What the owner publishes now has it: not only rows that its older versions wrote.
    let isPresent: Bool
    /// The payload is a value's own bytes.
    let transcoder: FixedLayoutTranscoder?
    /// As the ring's list has it; nil for whole bodies.
    private let entry: RingEvent?
    /// Of payloads, which were not examined yet.
    private let types: [DBusType]

    init(_ number: UInt32, _ schema: EventSchema, isPresent: Bool) {
        (name, self.number, fields, self.isPresent) = (schema.event, number, schema.fields, isPresent)
        signature = schema.fields.signature + WireSchema.stampSignature
        (transcoder, entry, types) = (nil, nil, [])
    }
    /// - Parameters:
    ///   - entry: as the owner's list has it.
    ///   - schemas: what the owner reported of its events' fields, which payloads in the wire encoding have.
    /// - Throws: `SchemaMismatch` or `InvalidArgument` for an event that nobody could read.
    init(_ entry: RingEvent, _ schemas: StreamSchemas) throws(RelayError) {
        (name, number, isPresent, self.entry) = (entry.name, nil, true, entry)
        if let size = entry.rawSize {
            let transcoder = try FixedLayoutTranscoder(layout: entry.layout, size: size)
            (fields, self.transcoder) = (transcoder.fields, transcoder)
        } else if let format = schemas.present(of: entry.name) {
            (fields, transcoder) = (format.fields, nil)
        } else {
            throw RelayError(.schemaMismatch, "the service does not report the fields of \(entry.name)")
        }
        let schema = try WireSchema(fields: fields)
        types = try Signature(schema.signature).types
        signature = schema.signature + WireSchema.stampSignature
    }
    /// Whether payloads are the own bytes of a type that has this entry: two sides with the same layout copy the same
    /// bytes.
    func isOwn(of type: RingEvent) -> Bool { type.rawSize != nil && entry == type }

    /// The body that a signal of a payload has.
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
        stamp.write(into: &writer)
        return writer.bytes
    }
}
