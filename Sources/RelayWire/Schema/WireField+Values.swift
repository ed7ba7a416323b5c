/// What a signature does not show of a field's values.
extension WireField {
    /// Why a value is none of the field's; nil if it is one, or if its type alone is wrong: writing it finds that.
    package func fault(of value: DBusValue) -> String? { type.fault(of: value, cases, depth: 0) }
}

extension WireType {
    fileprivate func fault(of value: DBusValue, _ cases: [WireCase], depth: Int) -> String? {
        if depth > WireLimits.depth { return "it is nested deeper than D-Bus allows" }
        switch (self, value) {
        case (.optional(let inner), .array(_, let values)):
            if values.count > 1 { return "an optional has 0 or 1 elements, not \(values.count)" }
            return values.lazy.compactMap { inner.fault(of: $0, cases, depth: depth + 1) }.first
        case (.optional, .bytes(let bytes)):
            return bytes.count > 1 ? "an optional has 0 or 1 elements, not \(bytes.count)" : nil
        case (.array(let inner), .array(_, let values)):
            return values.lazy.compactMap { inner.fault(of: $0, cases, depth: depth + 1) }.first
        case (.dictionary(_, let inner), .dictionary(_, let entries)):
            return entries.lazy.compactMap { inner.fault(of: $0.value, cases, depth: depth + 1) }.first
        case (.structure(let fields), .structure(let values)):
            return Self.fault(of: values, fields, depth: depth)
        case (.tagged(let variants), .structure(let parts)):
            guard parts.count == 2, case .string(let name) = parts[0], case .variant(let payload) = parts[1] else {
                return "an enum with payloads is the name of a case and a variant"
            }
            guard let variant = variants.first(where: { $0.name == name }) else {
                return "\(BusNames.quoted(name)) is no case: there are \(variants.map(\.name).joined(separator: ", "))"
            }
            if variant.fields.isEmpty {
                return payload.type.isInteger ? nil : "the case '\(name)' has no payload: its variant holds a byte 0"
            }
            guard case .structure(let values) = payload, "\(payload.type)" == variant.signature else {
                return "the payload of '\(name)' is '\(variant.signature)', not '\(payload.type)'"
            }
            return Self.fault(of: values, variant.fields, depth: depth + 2)
        default:
            guard isBasic, !cases.isEmpty, let raw = value.raw, !cases.contains(where: { $0.raw == raw }) else {
                return nil
            }
            let names = cases.prefix(16).map { $0.raw.text { "\"\($0)\"" } }.joined(separator: ", ")
            return
                "\(raw.text(BusNames.quoted)) is the value of no case: there are \(names)\(cases.count > 16 ? ", …" : "")"
        }
    }
    private static func fault(of values: [DBusValue], _ fields: [WireField], depth: Int) -> String? {
        zip(fields, values).lazy.compactMap { field, value in
            field.type.fault(of: value, field.cases, depth: depth + 1).map { "'\(field.name)': \($0)" }
        }.first
    }
}

extension DBusValue {
    /// As the raw value of an enum.
    fileprivate var raw: WireCase.Raw? {
        switch self {
        case .byte(let value): WireCase.Raw(value)
        case .int16(let value): WireCase.Raw(value)
        case .uint16(let value): WireCase.Raw(value)
        case .int32(let value): WireCase.Raw(value)
        case .uint32(let value): WireCase.Raw(value)
        case .int64(let value): WireCase.Raw(value)
        case .uint64(let value): WireCase.Raw(value)
        case .string(let text): .text(text)
        default: nil
        }
    }
}
