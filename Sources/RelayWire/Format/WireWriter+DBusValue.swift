extension WireWriter {
    /// Writes a value that must be of this type. Throws `.invalidArgument`.
    package mutating func value(_ value: DBusValue, as type: DBusType, depth: Int = 0) throws(RelayError) {
        if depth > WireLimits.depth {
            throw RelayError(.invalidArgument, "a value nested deeper than D-Bus allows (\(WireLimits.depth))")
        }
        switch (type, value) {
        case (.byte, .byte(let value)): byte(value)
        case (.boolean, .boolean(let value)): bool(value)
        case (.int16, .int16(let value)): int16(value)
        case (.uint16, .uint16(let value)): uint16(value)
        case (.int32, .int32(let value)): int32(value)
        case (.uint32, .uint32(let value)), (.unixFD, .unixFD(let value)): uint32(value)
        case (.int64, .int64(let value)): int64(value)
        case (.uint64, .uint64(let value)): uint64(value)
        case (.double, .double(let value)): double(value)
        case (.string, .string(let value)): try string(value)
        case (.objectPath, .objectPath(let value)): try objectPath(value)
        case (.signature, .signature(let value)): signature(value)
        case (.variant, .variant(let inner)):
            let type = inner.type
            signature(try Signature(types: [type]))
            try self.value(inner, as: type, depth: depth + 1)
        case (.array(.byte), .bytes(let bytes)):
            let mark = beginArray(elementAlignment: 1)
            append(bytes)
            try endArray(mark)
        case (.array(let element), .array(_, let values)):
            let mark = beginArray(elementAlignment: element.alignment)
            for value in values { try self.value(value, as: element, depth: depth + 1) }
            try endArray(mark)
        case (.dictionary(let key, let value), .dictionary(_, let entries)):
            let mark = beginArray(elementAlignment: 8)
            for entry in entries {
                align(8)
                try self.value(entry.key, as: key, depth: depth + 2)
                try self.value(entry.value, as: value, depth: depth + 2)
            }
            try endArray(mark)
        case (.structure(let types), .structure(let fields)) where types.count == fields.count && !fields.isEmpty:
            align(8)
            for (type, field) in zip(types, fields) { try self.value(field, as: type, depth: depth + 1) }
        default:
            throw RelayError(.invalidArgument, "a value of the type '\(value.type)' where '\(type)' belongs")
        }
    }
}
