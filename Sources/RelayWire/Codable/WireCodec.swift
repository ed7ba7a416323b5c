/// Codable values to and from the arguments of D-Bus messages, by the schema that was derived from their type.
package struct WireCodec<Value: Codable>: Sendable {
    package let schema: WireSchema
    package let form: WireForm

    /// Derives and checks the schema. Throws `.unsupportedType` with type, field and reason.
    ///
    /// A type that is no structure has the one field `value`.
    package init(_ type: Value.Type = Value.self) throws {
        let isStructure: Bool
        (schema, isStructure) = try WireSchema.derived(from: type, allowsNoFields: true)
        form = WireForm(schema, isStructure: isStructure, typeName: "\(type)", plainSize: nil)
    }
    /// Derives and checks an event's schema, with the checks that events must meet besides. Throws `.unsupportedType` with
    /// type, field and reason.
    package init(event type: Value.Type = Value.self) throws where Value: StreamEntry {
        let isStructure: Bool
        (schema, isStructure) = try WireSchema.derived(event: type)
        form = WireForm(
            schema, isStructure: isStructure, typeName: "\(type)", plainSize: FixedLayout.plainSize(type))
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
        try WireEncoder.encode(value, isStructure: form.isStructure, form.encoders, into: &writer)
    }
    /// Shows the fields as `encode` would append them to an empty writer, and returns what `body` does. Throws
    /// `.invalidArgument` as `encode`, and what `body` throws.
    package func withFields(
        of value: Value, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        try WireEncoder.show(value, isStructure: form.isStructure, form.encoders, body)
    }
    /// Reads the fields of this schema, and leaves the reader behind the last of them: a signal's stamp comes there.
    ///
    /// Throws `.invalidArgument` with the place, whatever the bytes are.
    package func decode(from reader: inout WireReader) throws -> Value {
        try WireDecoder.decode(Value.self, isStructure: form.isStructure, form.decoders, from: &reader)
    }
    /// Reads the whole body of an event: the fields, then the stamp, three numbers of which any will do.
    ///
    /// - Parameter translation: from the sender's fields, where they are others.
    package func decode(stamped body: UnsafeRawBufferPointer, by translation: WireTranslation? = nil) throws -> Value {
        try form.decode(Value.self, stamped: body, by: translation)
    }
    /// Reads a whole body: the fields, then arguments of the types that `trailing` has, which are checked and dropped.
    ///
    /// - Parameter translation: from the sender's fields, where they are others.
    package func decode(
        _ body: UnsafeRawBufferPointer, by translation: WireTranslation? = nil, trailing: Signature = .empty
    ) throws -> Value {
        var reader = WireReader(body)
        let value: Value
        if let translation, !translation.isIdentity {
            value = try form.translated(Value.self, from: &reader, translation)
        } else {
            value = try decode(from: &reader)
        }
        do throws(WireFault) {
            for type in trailing.types { try reader.skip(type) }
            try reader.finish()
        } catch { throw error.relayError("\(form.typeName), a body,") }
        return value
    }
}

/// What encoding and decoding need to know of a type. It is not generic: a generic type's metadata is looked up at
/// every event.
package struct WireForm: Sendable {
    let isStructure: Bool
    let typeName: String
    /// Of an event whose memory is also its wire form.
    let plainSize: Int?
    let plan: WirePlan
    let encoders: CoderPool<WireEncoder>
    package let decoders: CoderPool<WireDecoder>

    init(_ schema: WireSchema, isStructure: Bool, typeName: String, plainSize: Int?) {
        (self.isStructure, self.typeName, self.plainSize) = (isStructure, typeName, plainSize)
        plan = WirePlan(schema.fields)
        (encoders, decoders) = (CoderPool(plan), CoderPool(plan))
    }

    /// Reads the whole body of an event: the fields, then the stamp, three numbers of which any will do.
    @inline(__always) package func decode<Value: Decodable>(
        _ type: Value.Type, stamped body: UnsafeRawBufferPointer, by translation: WireTranslation?
    ) throws -> Value {
        if let translation, !translation.isIdentity { return try translated(type, stamped: body, translation) }
        if let plainSize, Self.isPlain(body, plainSize) { return Self.plain(type, body, plainSize) }
        var reader = WireReader(body)
        let value = try WireDecoder.decode(type, isStructure: isStructure, decoders, from: &reader)
        try finish(&reader)
        return value
    }
    /// Reads the fields of an event, which are all that there is.
    @inline(__always) package func decode<Value: Decodable>(
        _ type: Value.Type, fields: UnsafeRawBufferPointer, by translation: WireTranslation?
    ) throws -> Value {
        var reader = WireReader(fields)
        let value =
            if let translation, !translation.isIdentity {
                try translated(type, from: &reader, translation)
            } else {
                try WireDecoder.decode(type, isStructure: isStructure, decoders, from: &reader)
            }
        do throws(WireFault) { try reader.finish() } catch { throw error.relayError("\(typeName), a body,") }
        return value
    }
    /// The same for one of many from a sender with this schema: by a decoder of this form, which is the caller's alone,
    /// and can go on after an error.
    @inline(__always) package func decode<Value: Decodable>(
        _ type: Value.Type, stamped body: UnsafeRawBufferPointer, with decoder: Unmanaged<WireDecoder>
    ) throws -> Value {
        if let plainSize, Self.isPlain(body, plainSize) { return Self.plain(type, body, plainSize) }
        var reader = WireReader(body)
        let value = try decoder._withUnsafeGuaranteedRef { decoder in
            try decoder.decodeNext(type, isStructure: isStructure, from: &reader)
        }
        try finish(&reader)
        return value
    }
    @inline(never) private func translated<Value: Decodable>(
        _ type: Value.Type, stamped body: UnsafeRawBufferPointer, _ translation: WireTranslation
    ) throws -> Value {
        var reader = WireReader(body)
        let value = try translated(type, from: &reader, translation)
        try finish(&reader)
        return value
    }
    /// Reads a sender's fields, and leaves the reader behind the last of them.
    func translated<Value: Decodable>(
        _ type: Value.Type, from reader: inout WireReader, _ translation: WireTranslation
    ) throws -> Value {
        var writer = WireWriter(capacity: reader.remaining + 64)
        try translation.translate(&reader, into: &writer)
        return try writer.withUnsafeBytes { bytes in
            var fields = WireReader(bytes)
            let value = try WireDecoder.decode(type, isStructure: isStructure, decoders, from: &fields)
            do throws(WireFault) { try fields.finish() } catch { throw error.relayError("\(typeName), translated,") }
            return value
        }
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
