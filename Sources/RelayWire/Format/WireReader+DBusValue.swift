extension WireReader {
    /// Reads one value of any type, checking it as libdbus does.
    ///
    /// Throws also when the containers are far more than the bytes justify: structures within each other cost no byte.
    package mutating func value(_ type: DBusType) throws(WireFault) -> DBusValue { try value(type, depth: 0) }

    /// - Parameter depth: containers that are around it.
    mutating func value(_ type: DBusType, depth: Int) throws(WireFault) -> DBusValue {
        var budget = 1_024 + remaining / 2
        return try value(type, depth: depth, &budget)
    }

    private mutating func value(_ type: DBusType, depth: Int, _ budget: inout Int) throws(WireFault) -> DBusValue {
        if depth > WireLimits.depth { throw WireFault(.tooDeep, at: position) }
        if !type.isBasic {
            budget -= 1
            if budget < 0 { throw WireFault(.containers, at: position) }
        }
        switch type {
        case .byte: return .byte(try byte())
        case .boolean: return .boolean(try bool())
        case .int16: return .int16(try int16())
        case .uint16: return .uint16(try uint16())
        case .int32: return .int32(try int32())
        case .uint32: return .uint32(try uint32())
        case .int64: return .int64(try int64())
        case .uint64: return .uint64(try uint64())
        case .double: return .double(try double())
        case .string: return .string(try string())
        case .objectPath: return .objectPath(try objectPath())
        case .signature: return .signature(try signature())
        case .unixFD: return .unixFD(try uint32())
        case .variant:
            let inner = try variantType()
            return .variant(try value(inner, depth: depth + 1, &budget))
        case .array(.byte):
            let end = try beginArray(elementAlignment: 1)
            return .bytes([UInt8](try raw(end - position)))
        case .array(let element): return .array(element, try elements(element, depth: depth + 1, &budget))
        case .dictionary(let key, let value):
            return .dictionary(type, try entries(key, value, depth: depth + 2, &budget))
        case .structure(let types):
            try align(8)
            var fields: [DBusValue] = []
            for type in types { fields.append(try value(type, depth: depth + 1, &budget)) }
            return .structure(fields)
        }
    }
    // Nothing is reserved ahead: an element of one byte at least is there for each value made.
    private mutating func elements(_ element: DBusType, depth: Int, _ budget: inout Int) throws(WireFault)
        -> [DBusValue]
    {
        let end = try beginArray(elementAlignment: element.alignment)
        let start = position
        var values: [DBusValue] = []
        while position < end { values.append(try value(element, depth: depth, &budget)) }
        try endArray(end, elements: start)
        return values
    }
    private mutating func entries(_ key: DBusType, _ value: DBusType, depth: Int, _ budget: inout Int) throws(WireFault)
        -> [DBusValue.Entry]
    {
        let end = try beginArray(elementAlignment: 8)
        let start = position
        var entries: [DBusValue.Entry] = []
        while position < end {
            try align(8)
            let key = try self.value(key, depth: depth, &budget)
            entries.append(DBusValue.Entry(key: key, value: try self.value(value, depth: depth, &budget)))
        }
        try endArray(end, elements: start)
        return entries
    }
}
