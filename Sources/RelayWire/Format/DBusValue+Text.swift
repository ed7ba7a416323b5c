extension DBusValue {
    /// For logs and messages: `(3, "tray 2")`. Control characters are shown as escapes.
    package var plainText: String {
        switch self {
        case .byte(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .int16(let value): "\(value)"
        case .uint16(let value): "\(value)"
        case .int32(let value): "\(value)"
        case .uint32(let value), .unixFD(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .uint64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value), .objectPath(let value): "\"" + value.unicodeScalars.plainlyVisible + "\""
        case .signature(let value): "\"\(value)\""
        case .bytes(let bytes): "[" + bytes.map { "\($0)" }.joined(separator: ", ") + "]"
        case .array(_, let values): "[" + values.map(\.plainText).joined(separator: ", ") + "]"
        case .dictionary(_, let entries):
            entries.isEmpty
                ? "[:]"
                : "[" + entries.map { "\($0.key.plainText): \($0.value.plainText)" }.joined(separator: ", ") + "]"
        case .structure(let fields): "(" + fields.map(\.plainText).joined(separator: ", ") + ")"
        case .variant(let value): value.plainText
        }
    }
}
