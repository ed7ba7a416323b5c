/// What differs between the fields that a program knows and the signature that came, in words that name the field.
package enum SchemaDifference {
    /// Nil where nothing differs.
    package static func text(of signature: String, from fields: [WireField]) -> String? {
        if signature == fields.signature { return nil }
        guard let types = try? Signature(signature).types else { return "its signature '\(signature)' is none" }
        for (index, field) in fields.enumerated() {
            if index == types.count { return "field '\(field.name)' ('\(field.type.signature)') is missing" }
            let came = types[index].description
            if came != field.type.signature {
                return "field '\(field.name)' came as '\(came)' instead of '\(field.type.signature)'"
            }
        }
        let more = types.dropFirst(fields.count).map(\.description).joined()
        return "'\(more)' came behind \(fields.last.map { "the last field '\($0.name)'" } ?? "no fields")"
    }
    /// The names and types of fields: `(label: s, capacity: i)`.
    package static func text(_ fields: [WireField]) -> String {
        if fields.isEmpty { return "no arguments" }
        return "(" + fields.map { "\($0.name): \($0.type.shape)" }.joined(separator: ", ") + ")"
    }
}
