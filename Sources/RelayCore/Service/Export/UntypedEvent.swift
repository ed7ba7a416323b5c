import RelayWire

/// One event of an interface without Swift types: published by its values.
final class UntypedEvent: AnyExportedEvent, @unchecked Sendable {
    private let schema: WireSchema
    private let signature: Signature
    private let isDocument: Bool

    init(_ schema: WireSchema, _ signature: Signature, _ place: InterfacePlan.Place, isDocument: Bool) {
        (self.schema, self.signature, self.isDocument) = (schema, signature, isDocument)
        super.init(place)
    }
    /// What is to be published; nil: a document has this state already.
    ///
    /// Throws `InvalidArgument` for values that are not what the contract has, `TooLarge`.
    func encoded(_ values: [String: DBusValue], _ book: DocumentBook) throws -> EncodedEvent? {
        let own = "\(stream.interface).\(name)"
        if let other = values.keys.sorted().first(where: { key in !schema.fields.contains { $0.name == key } }) {
            throw RelayError(
                .invalidArgument,
                "\(own) has no field \(BusNames.quoted(other)): it has \(schema.fields.map(\.name).joined(separator: ", "))"
            )
        }
        var writer = WireWriter()
        for (field, type) in zip(schema.fields, signature.types) {
            let value: DBusValue
            switch (values[field.name], field.type) {
            case (let given?, _): value = given
            case (nil, .optional(let wrapped)): value = .array(try Signature(wrapped.signature).types[0], [])
            case (nil, _):
                throw RelayError(.invalidArgument, "\(own) needs its field '\(field.name)' (\(field.type.shape))")
            }
            if let reason = field.fault(of: value) {
                throw RelayError(.invalidArgument, "\(own), field '\(field.name)': \(reason)")
            }
            do throws(RelayError) { try writer.value(value, as: type) } catch {
                throw RelayError(error.code, "\(own), field '\(field.name)': \(error.message)")
            }
        }
        try check(writer.count + (isDocument ? UntypedDocument.room : 0))
        if isDocument, let entry = book[index], writer.withUnsafeBytes({ $0.elementsEqual(entry.fields) }) {
            return nil
        }
        return try encoded(&writer)
    }
}

/// One document of an interface without Swift types: its state is the fields of its last entry.
final class UntypedDocument: AnyExportedDocument, @unchecked Sendable {
    /// What an event's message has no need of: the names in `PropertiesChanged`.
    static let room = 2_048
    private let schema: WireSchema

    init(_ name: String, _ schema: WireSchema, _ place: InterfacePlan.Place, _ book: DocumentBook) {
        self.schema = schema
        super.init(name, place.stream, book, place.index, logIndex: place.logIndex)
    }
    /// Without what the log has, the state is not known: a contract has no initial one.
    override func begin(_ logged: LoggedDocument?, _ schemas: [UInt32: EventSchema]) throws {
        guard let logged, let sender = schemas[logged.schema]?.fields,
            let fields = try? schema.fields(of: logged.body, from: sender)
        else { return }
        book.begin(number, fields: fields, sequence: logged.sequence)
    }
}

extension WireSchema {
    /// The fields of an event that was written with others: found by name, where they are of the same types.
    ///
    /// Throws `SchemaMismatch` for what is missing or another type, `InvalidArgument` for a body that is not of them.
    func fields(of body: [UInt8], from sender: [WireField]) throws -> [UInt8] {
        let signature = try Signature(sender.signature + Self.stampSignature)
        let values = try body.withUnsafeBytes { try DBusValue.decode(signature: signature, body: $0) }
        var writer = WireWriter(capacity: body.count)
        for field in fields {
            let index =
                sender.firstIndex { $0.name == field.name }
                ?? sender.firstIndex { field.formerNames.contains($0.name) || $0.formerNames.contains(field.name) }
            if let index, sender[index].type == field.type {
                try writer.value(values[index], as: values[index].type)
            } else if index == nil, case .optional(let wrapped) = field.type {
                let value = DBusValue.array(try Signature(wrapped.signature).types[0], [])
                try writer.value(value, as: value.type)
            } else {
                throw RelayError(.schemaMismatch, "the field '\(field)' is not there")
            }
        }
        return writer.takeBytes()
    }
}
