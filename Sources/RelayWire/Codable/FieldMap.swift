/// How a sender's fields serve a type of ours: found by name, once per sender, not per message.
package struct FieldMap: Sendable {
    /// The sender's fields, in its order.
    package let fields: [WireField]
    /// True when the sender's fields are ours.
    package let isIdentical: Bool
    /// The sender's.
    let plan: WirePlan
    /// For the sender's plan.
    package let decoders: WireDecoderPool

    /// For a sender that has the same schema.
    package init(_ schema: WireSchema) { self.init(fields: schema.fields, isIdentical: true) }

    private init(fields: [WireField], isIdentical: Bool) {
        (self.fields, self.isIdentical, plan) = (fields, isIdentical, WirePlan(fields))
        decoders = WireDecoderPool(plan)
    }

    /// Tolerates fields that only the sender has, another order, optional fields that it lacks (they are nil), and
    /// former names of fields (`RenamedFields`).
    ///
    /// Throws `.schemaMismatch` with type, field and both shapes for a field of another type, or one that is missing
    /// and not optional. The names within nested structures belong to a field's type.
    package init(sender: [WireField], to schema: WireSchema, event name: String) throws(RelayError) {
        if sender == schema.fields {
            self.init(schema)
            return
        }
        do throws(RelayError) { _ = try WireSchema(fields: sender) } catch {
            throw RelayError(.schemaMismatch, "\(name): the sender's fields are none: \(error.message)", cause: error)
        }
        let known = Self.presentNames(of: sender, schema)
        for field in schema.fields {
            let theirs = known.first { $0.name == field.name }
            if let theirs, theirs.type != field.type {
                throw RelayError(
                    .schemaMismatch,
                    "\(name), field '\(field.name)': the sender sends '\(theirs.type.shape)', this program reads '\(field.type.shape)'; give the changed field or interface a new name"
                )
            }
            if theirs == nil, !field.isOptional {
                throw RelayError(
                    .schemaMismatch,
                    "\(name), field '\(field.name)': the sender has none, this program needs '\(field.type.shape)'; make it optional, or update the sender"
                )
            }
        }
        self.init(fields: known, isIdentical: false)
    }
    /// The sender's fields, under the names that they have today. A present name that the sender has, too, counts.
    private static func presentNames(of sender: [WireField], _ schema: WireSchema) -> [WireField] {
        if schema.formerNames.isEmpty { return sender }
        var taken = Set(sender.map(\.name))
        return sender.map { field in
            guard let present = schema.formerNames[field.name], taken.insert(present).inserted else { return field }
            return WireField(name: present, type: field.type, swiftType: field.swiftType)
        }
    }
}
