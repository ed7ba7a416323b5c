/// Codable values to and from the arguments of D-Bus messages, by the schema that was derived from their type.
package struct WireCodec<Value: Codable>: Sendable {
    package let schema: WireSchema
    /// For a sender that has this very type.
    package let map: FieldMap
    private let isStructure: Bool
    private let typeName: String
    /// Of an event whose memory is also its wire form.
    private let plainSize: Int?

    /// Derives and checks the schema. Throws `.unsupportedType` with type, field and reason.
    ///
    /// A type that is no structure has the one field `value`.
    package init(_ type: Value.Type = Value.self) throws {
        (schema, isStructure) = try WireSchema.derived(from: type, allowsNoFields: true)
        map = FieldMap(schema)
        typeName = "\(type)"
        plainSize = nil
    }
    /// As above, with the checks that events must meet besides.
    package init(event type: Value.Type = Value.self) throws where Value: DomainEvent {
        _ = try WireSchema(event: type)
        (schema, isStructure) = try WireSchema.derived(from: type, allowsNoFields: true)
        map = FieldMap(schema)
        typeName = "\(type)"
        plainSize = FixedLayout.plainSize(type)
    }

    /// Appends the fields in the schema's order.
    ///
    /// Throws `.invalidArgument` with the field if the value cannot be carried or does not encode as its schema says; the
    /// writer is then as before.
    package func encode(_ value: Value, into writer: inout WireWriter) throws {
        try WireEncoder.encode(value, isStructure: isStructure, map.plan, typeName, into: &writer)
    }
    /// Reads the sender's fields, and leaves the reader behind the last of them: a signal's stamp comes there.
    ///
    /// Throws `.invalidArgument` with the place, whatever the bytes are.
    package func decode(from reader: inout WireReader, using map: FieldMap) throws -> Value {
        try WireDecoder.decode(Value.self, isStructure: isStructure, map.decoders, from: &reader)
    }
    /// Reads the whole body of an event: the sender's fields, then the stamp, three numbers of which any will do.
    package func decode(stamped body: UnsafeRawBufferPointer, using map: FieldMap) throws -> Value {
        if let plainSize, map.isIdentical, let value = plain(body, plainSize) { return value }
        var reader = WireReader(body)
        let value = try decode(from: &reader, using: map)
        do throws(WireFault) {
            try reader.align(8)
            _ = try reader.raw(WireSchema.stampSize)
            try reader.finish()
        } catch { throw error.relayError("\(typeName), a body,") }
        return value
    }
    /// The bytes as they are. Nil where they are not so many, or something is in the padding: reading them tells what.
    @inline(__always) private func plain(_ body: UnsafeRawBufferPointer, _ size: Int) -> Value? {
        let padded = (size + 7) & ~7
        guard body.count == padded + WireSchema.stampSize, body[size..<padded].allSatisfy({ $0 == 0 }) else {
            return nil
        }
        // Numbers, each where it is in memory: `plainSize` checked the type.
        return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { value in
            UnsafeMutableRawBufferPointer(value).copyMemory(from: UnsafeRawBufferPointer(rebasing: body[..<size]))
            return value[0]
        }
    }
    /// Reads a whole body: the sender's fields, then arguments of the types that `trailing` has, which are checked and dropped.
    package func decode(_ body: UnsafeRawBufferPointer, using map: FieldMap, trailing: Signature = .empty) throws
        -> Value
    {
        var reader = WireReader(body)
        let value = try decode(from: &reader, using: map)
        do throws(WireFault) {
            for type in trailing.types { try reader.skip(type) }
            try reader.finish()
        } catch { throw error.relayError("\(typeName), a body,") }
        return value
    }
}
