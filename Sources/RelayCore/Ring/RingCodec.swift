/// One event type to and from a ring's payloads: the value's own bytes, or the wire encoding of its fields.
///
/// The wire payload is what a signal's body begins with; the stamp is in the record's header.
package struct RingCodec<E: DomainEvent>: Sendable {
    private let wire: WireCodec<E>
    private let map: FieldMap
    private let rawSize: Int?

    /// - Parameters:
    ///   - sender: the event as the ring's list has it.
    ///   - fields: the sender's, for the wire encoding.
    /// Throws `.unsupportedType` for a type that cannot travel, `.schemaMismatch` with the event's name when the two sides have
    /// different layouts or different fields.
    package init(_ type: E.Type = E.self, sender: RingEvent, fields: [WireField]? = nil) throws {
        wire = try WireCodec(event: type)
        let own = try RingEvent(type)
        guard sender == own else {
            throw RelayError(
                .schemaMismatch,
                "\(sender.name): \(Self.text(sender)) in the ring, \(Self.text(own)) in this program; both sides need the same version of the type"
            )
        }
        map = if let fields { try FieldMap(sender: fields, to: wire.schema, event: E.name) } else { wire.map }
        rawSize = own.rawSize
    }

    /// Appends the payload.
    package func encode(_ event: E, into writer: inout WireWriter) throws {
        guard rawSize != nil else { return try wire.encode(event, into: &writer) }
        withUnsafeBytes(of: event) { writer.append($0) }
    }
    /// Throws `.invalidArgument` with the place, whatever the bytes are.
    package func decode(_ payload: UnsafeRawBufferPointer) throws -> E {
        guard let rawSize else { return try wire.decode(payload, using: map) }
        guard payload.count == rawSize, let bytes = payload.baseAddress else {
            throw RelayError(.invalidArgument, "\(E.name): \(payload.count) bytes; its layout has \(rawSize)")
        }
        // Of this size, and every byte of it a number's: `RingEvent.init` checked the type.
        return withUnsafeTemporaryAllocation(of: E.self, capacity: 1) { value in
            UnsafeMutableRawBufferPointer(value).copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: rawSize))
            return value[0]
        }
    }
    private static func text(_ event: RingEvent) -> String {
        guard let size = event.rawSize else { return "the wire encoding" }
        return "\(size) raw bytes of layout \(String(event.fingerprint, radix: 16))"
    }
}
