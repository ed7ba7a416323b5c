extension WireReader {
    /// Passes over one value of any type, checking it as libdbus does.
    package mutating func skip(_ type: DBusType) throws(WireFault) { try skip(type, depth: 0) }

    mutating func skip(_ type: DBusType, depth: Int) throws(WireFault) {
        if depth > WireLimits.depth { throw WireFault(.tooDeep, at: position) }
        switch type {
        case .byte: _ = try byte()
        case .boolean: _ = try bool()
        case .int16, .uint16: _ = try uint16()
        case .int32, .uint32, .unixFD: _ = try uint32()
        case .int64, .uint64, .double: _ = try uint64()
        case .string: try skipString()
        case .objectPath: _ = try objectPath()
        case .signature: _ = try signature()
        case .variant:
            let inner = try variantType()
            try skip(inner, depth: depth + 1)
        case .array(let element):
            let end = try beginArray(elementAlignment: element.alignment)
            let start = position
            // Of any bytes: at once, if they fill it.
            if let size = WireSkip.plainSize(element), (end - start) % size == 0 { _ = try raw(end - start) }
            while position < end { try skip(element, depth: depth + 1) }
            try endArray(end, elements: start)
        case .dictionary(let key, let value):
            let end = try beginArray(elementAlignment: 8)
            let start = position
            while position < end {
                try align(8)
                try skip(key, depth: depth + 2)
                try skip(value, depth: depth + 2)
            }
            try endArray(end, elements: start)
        case .structure(let fields):
            try align(8)
            for field in fields { try skip(field, depth: depth + 1) }
        }
    }
    /// Reads a variant's signature, which must be of one type.
    mutating func variantType() throws(WireFault) -> DBusType {
        let start = position
        let signature = try signature()
        guard signature.types.count == 1 else {
            throw WireFault(.signature("a variant holds one type, not '\(signature)'"), at: start)
        }
        return signature.types[0]
    }
}
