/// The fields of a type and their D-Bus signature, derived from its `Codable` conformance.
package struct WireSchema: Hashable, Sendable {
    /// In the order in which they travel.
    package let fields: [WireField]
    /// The fields' types one after the other, as in a message's body.
    package var signature: String { fields.signature }

    /// The arguments that every event's signal ends with.
    package static let stampSignature = "ttt"
    /// Of the stamp that follows the fields in an event's body, in bytes.
    static let stampSize = 24
    package static let stampNames = ["sequence", "previous", "publishedAt"]

    /// Derives the schema of a codable type. A type that is not a struct has a single field `value`.
    ///
    /// - Parameter type: the type.
    /// - Parameter allowsNoFields: whether a struct without fields is accepted.
    /// - Throws: `.unsupportedType` with type, field and reason for what D-Bus cannot carry.
    package init<T: Codable>(of type: T.Type, allowsNoFields: Bool = false) throws {
        (self, _) = try Self.derived(from: type, allowsNoFields: allowsNoFields)
    }
    /// Derives an event's schema, and checks what only events must meet.
    ///
    /// - Parameter type: the event.
    /// - Throws: `.unsupportedType` with type, field and reason for what D-Bus cannot carry.
    package init<E: StreamEntry>(event type: E.Type) throws {
        (self, _) = try Self.derived(event: type)
    }
    static func derived<E: StreamEntry>(event type: E.Type) throws -> (Self, isStructure: Bool) {
        guard BusNames.isMember(type.name) else {
            throw refusal("\(type)", "'\(type.name)' is not a D-Bus name; give the type a static name")
        }
        let derived = try derived(from: type, allowsNoFields: true)  // The stamp makes its signal's arguments.
        try derived.0.check(event: type)
        return derived
    }
    /// Checks what only events must meet.
    private func check<E: StreamEntry>(event type: E.Type) throws {
        try check(event: "\(type)")
        if type.isFixedLayout { try FixedLayout.check(type) }
    }
    /// Checks what only events must meet. Throws `.unsupportedType` with the field and the reason.
    ///
    /// - Parameter type: the event, for the error.
    package func check(event type: String) throws(RelayError) {
        for field in fields where Self.stampNames.contains(field.name) {
            throw Self.refusal(type, field: field.name, "the name is that of an argument which every signal ends with")
        }
        try refuseDescriptors(in: type, "an event has many receivers; a command's arguments can carry one")
        // The journal hands a signal's arguments out as one structure.
        if let reason = Self.fault("(\(signature)\(Self.stampSignature))") {
            throw Self.refusal(type, "its signature with the stamp's, as one structure, is none for D-Bus: \(reason)")
        }
    }
    package var hasDescriptors: Bool { fields.contains { $0.type.hasDescriptors } }
    /// Throws `.unsupportedType` with the field and the reason if there is a file descriptor among the fields.
    package func refuseDescriptors(in type: String, _ reason: String) throws(RelayError) {
        guard let field = fields.first(where: { $0.type.hasDescriptors }) else { return }
        let refusal = SchemaRefusal(
            type: type, field: field.name, reason: "a file descriptor cannot travel here: \(reason)")
        throw RelayError(.unsupportedType, "\(refusal)", cause: refusal)
    }
    /// A schema that is known by its fields, as a sender's is. Throws `.invalidArgument` if D-Bus could not carry it.
    package init(fields: [WireField]) throws(RelayError) {
        self.fields = fields
        var names: Set<String> = []
        for field in fields where !names.insert(field.name).inserted {
            throw RelayError(.invalidArgument, "two fields named \(BusNames.quoted(field.name))")
        }
        _ = try Signature(signature)
        if let fault = fields.lazy.compactMap(\.type.payloadFault).first { throw RelayError(.invalidArgument, fault) }
    }

    static func derived<T: Codable>(from type: T.Type, allowsNoFields: Bool) throws -> (Self, isStructure: Bool) {
        do throws(SchemaRefusal) {
            let probe = SchemaProbe(root: "\(type)")
            let (wire, _) = try probe.shape(of: type, at: [])
            var isStructure = true
            let fields: [WireField]
            switch wire {
            case .structure(let all): fields = all
            default:
                (fields, isStructure) = (
                    [
                        WireField(
                            name: "value", type: wire, swiftType: "\(type)", cases: WireCase.cases(of: type),
                            hasSets: probe.hasSets(type), hasForeign: probe.hasForeign(type))
                    ], false
                )
            }
            if fields.isEmpty && !allowsNoFields {
                throw probe.refusal([], "it has no fields; D-Bus has no empty structure")
            }
            let schema = Self(checked: fields)
            if let reason = fault(schema.signature) {
                throw probe.refusal([], "its signature is none for D-Bus: \(reason)")
            }
            for field in fields where field.contractText.utf8.count > ShapeParser.longest {
                throw probe.refusal([field.name], "its shape is longer than \(ShapeParser.longest) bytes: split it up")
            }
            return (schema, isStructure)
        } catch {
            throw RelayError(.unsupportedType, "\(error)", cause: error)
        }
    }
    private init(checked fields: [WireField]) { self.fields = fields }

    private static func fault(_ signature: String) -> String? {
        do throws(RelayError) { _ = try Signature(signature) } catch {
            return (error.cause as? SignatureFault)?.reason ?? error.message
        }
        return nil
    }
    private static func refusal(_ type: String, field: String = "", _ reason: String) -> RelayError {
        let refusal = SchemaRefusal(type: type, field: field, reason: reason)
        return RelayError(.unsupportedType, "\(refusal)", cause: refusal)
    }
}

/// The fields of an event as its publisher has them: what `Schemas` answers, by number.
package struct EventSchema: Hashable, Sendable {
    package var event: String
    package var fields: [WireField]
    package init(event: String, fields: [WireField]) { (self.event, self.fields) = (event, fields) }
}

/// Why a type cannot cross processes. Found at registration, never at the first publish.
package struct SchemaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type that was to be registered.
    package let type: String
    /// The way to the field: `shelves[].dimensions{value}.height?`. Empty for the type itself.
    package let field: String
    /// What D-Bus cannot carry, and what to do instead.
    package let reason: String
    package var description: String { field.isEmpty ? "\(type): \(reason)" : "\(type), field '\(field)': \(reason)" }
}
