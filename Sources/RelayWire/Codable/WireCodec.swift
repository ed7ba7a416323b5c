/// Codable values to and from the arguments of D-Bus messages, by the schema that was derived from their type.
package struct WireCodec<Value: Codable>: Sendable {
    package let schema: WireSchema
    /// For a sender that has this very type.
    package let map: FieldMap
    package let form: WireForm

    /// Derives and checks the schema. Throws `.unsupportedType` with type, field and reason.
    ///
    /// A type that is no structure has the one field `value`.
    package init(_ type: Value.Type = Value.self) throws {
        let isStructure: Bool
        (schema, isStructure) = try WireSchema.derived(from: type, allowsNoFields: true)
        map = FieldMap(schema)
        form = WireForm(isStructure: isStructure, typeName: "\(type)", plainSize: nil)
    }
    /// Derives and checks an event's schema, with the checks that events must meet besides. Throws `.unsupportedType` with
    /// type, field and reason.
    package init(event type: Value.Type = Value.self) throws where Value: DomainEvent {
        let checked = try WireSchema(event: type)
        let (plain, isStructure) = try WireSchema.derived(from: type, allowsNoFields: true)
        var derived = plain
        derived.formerNames = checked.formerNames
        schema = derived
        map = FieldMap(schema)
        form = WireForm(isStructure: isStructure, typeName: "\(type)", plainSize: FixedLayout.plainSize(type))
    }

    /// Of a command's reply. Throws `.unsupportedType`, also for a file descriptor in a reply that is kept.
    package init<C: Command>(replyOf command: C.Type) throws where Value == C.Reply {
        try self.init(C.Reply.self)
        if command is any IdempotentCommand.Type {
            try schema.refuseDescriptors(
                in: "\(C.Reply.self)",
                "the reply of an idempotent command is kept, and a descriptor cannot be; let the caller send a pipe or a "
                    + "socket, and write into that")
        }
    }
    /// Of what a command reports while it runs; nil if it reports nothing. Throws `.unsupportedType`, also for a type
    /// without fields, or that is no structure.
    package init?<C: Command>(progressOf command: C.Type) throws where Value == C.Progress {
        if C.Progress.self == Never.self { return nil }
        try self.init(C.Progress.self)
        try schema.refuseDescriptors(in: "\(C.Progress.self)", "a bus may drop it unread")
        if !form.isStructure || schema.fields.isEmpty {
            throw RelayError(
                .unsupportedType,
                "\(C.Progress.self), the progress of \(C.name), has to be a structure with fields: D-Bus has no empty one"
            )
        }
    }
    /// Appends the fields in the schema's order.
    ///
    /// Throws `.invalidArgument` with the field if the value cannot be carried or does not encode as its schema says;
    /// the writer is then as before.
    package func encode(_ value: Value, into writer: inout WireWriter) throws {
        try WireEncoder.encode(value, isStructure: form.isStructure, map.plan, form.typeName, into: &writer)
    }
    /// Reads the sender's fields, and leaves the reader behind the last of them: a signal's stamp comes there.
    ///
    /// Throws `.invalidArgument` with the place, whatever the bytes are.
    package func decode(from reader: inout WireReader, using map: FieldMap) throws -> Value {
        try WireDecoder.decode(Value.self, isStructure: form.isStructure, map.decoders, from: &reader)
    }
    /// Reads the whole body of an event: the sender's fields, then the stamp, three numbers of which any will do.
    package func decode(stamped body: UnsafeRawBufferPointer, using map: FieldMap) throws -> Value {
        try form.decode(Value.self, stamped: body, using: map)
    }
    /// Reads a whole body: the sender's fields, then arguments of the types that `trailing` has, which are checked and
    /// dropped.
    package func decode(_ body: UnsafeRawBufferPointer, using map: FieldMap, trailing: Signature = .empty) throws
        -> Value
    {
        var reader = WireReader(body)
        let value = try decode(from: &reader, using: map)
        do throws(WireFault) {
            for type in trailing.types { try reader.skip(type) }
            try reader.finish()
        } catch { throw error.relayError("\(form.typeName), a body,") }
        return value
    }
}

/// What decoding needs to know of a type besides its schema. It is not generic: a generic type's metadata is looked up
/// at every event.
package struct WireForm: Sendable {
    let isStructure: Bool
    let typeName: String
    /// Of an event whose memory is also its wire form.
    let plainSize: Int?

    /// Reads the whole body of an event: the sender's fields, then the stamp, three numbers of which any will do.
    @inline(__always) package func decode<Value: Decodable>(
        _ type: Value.Type, stamped body: UnsafeRawBufferPointer, using map: FieldMap
    ) throws -> Value {
        if let plainSize, map.isIdentical, Self.isPlain(body, plainSize) { return Self.plain(type, body, plainSize) }
        var reader = WireReader(body)
        let value = try WireDecoder.decode(type, isStructure: isStructure, map.decoders, from: &reader)
        try finish(&reader)
        return value
    }
    /// The same for one of many: by a decoder of the map, which is the caller's alone, and can go on after an error.
    ///
    /// - Parameter isIdentical: as the map's.
    @inline(__always) package func decode<Value: Decodable>(
        _ type: Value.Type, stamped body: UnsafeRawBufferPointer, isIdentical: Bool, by decoder: Unmanaged<WireDecoder>
    ) throws -> Value {
        if let plainSize, isIdentical, Self.isPlain(body, plainSize) { return Self.plain(type, body, plainSize) }
        var reader = WireReader(body)
        let value = try decoder._withUnsafeGuaranteedRef { decoder in
            try decoder.decodeNext(type, isStructure: isStructure, from: &reader)
        }
        try finish(&reader)
        return value
    }
    /// Passes over the stamp.
    @inline(__always) private func finish(_ reader: inout WireReader) throws {
        do throws(WireFault) {
            try reader.align(8)
            _ = try reader.raw(WireSchema.stampSize)
            try reader.finish()
        } catch { throw error.relayError("\(typeName), a body,") }
    }
    /// Whether it has so many bytes, and nothing in the padding. If not, reading it field by field finds the fault.
    private static func isPlain(_ body: UnsafeRawBufferPointer, _ size: Int) -> Bool {
        let padded = (size + 7) & ~7
        return body.count == padded + WireSchema.stampSize && body[size..<padded].allSatisfy { $0 == 0 }
    }
    /// The bytes as they are: numbers, each where it is in memory, as `FixedLayout.plainSize` checked for the type.
    @inline(never) private static func plain<Value>(
        _ type: Value.Type, _ body: UnsafeRawBufferPointer, _ size: Int
    ) -> Value {
        withUnsafeTemporaryAllocation(of: type, capacity: 1) { value in
            UnsafeMutableRawBufferPointer(value).copyMemory(from: UnsafeRawBufferPointer(rebasing: body[..<size]))
            return value[0]
        }
    }
}
