/// One case of an enum with payloads.
package struct WireVariant: Hashable, Sendable, CustomStringConvertible {
    /// As in Swift, and on the wire.
    package let name: String
    /// Of the payload: `_0`, `_1` where Swift has no label. Without any, the variant on the wire holds a byte 0.
    package let fields: [WireField]
    /// Whether its enum has a case for cases that it does not know. Not compared.
    package let isOpen: Bool

    package init(name: String, fields: [WireField] = [], isOpen: Bool = false) {
        (self.name, self.fields, self.isOpen) = (name, fields, isOpen)
    }
    /// `idle` or `printing(page:i)`.
    package var description: String { text(withFormerNames: false) }

    func text(withFormerNames: Bool) -> String {
        fields.isEmpty ? name : name + WireType.text(fields, withFormerNames: withFormerNames)
    }
    /// What its variant holds: a structure, or a byte.
    package var signature: String { fields.isEmpty ? "y" : WireType.structure(fields).signature }

    /// Why D-Bus cannot carry it.
    var fault: String? {
        do throws(RelayError) { _ = try Signature(signature) } catch {
            return "the payload of '\(name)': " + ((error.cause as? SignatureFault)?.reason ?? error.message)
        }
        return fields.lazy.compactMap(\.type.payloadFault).first
    }

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name && a.fields == b.fields }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(fields)
    }
}
