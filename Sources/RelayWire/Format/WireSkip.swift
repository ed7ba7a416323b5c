/// How to pass over a body's fields: made once of their types, as each event of a page is passed over.
package struct WireSkip {
    enum Step {
        /// So many bytes, of which any will do, behind each other and aligned by this.
        case plain(count: Int, alignment: Int)
        case bool
        case string
        case other(DBusType)
    }
    let steps: [Step]

    package init(_ fields: [DBusType]) {
        var steps: [Step] = []
        for field in fields {
            guard let size = Self.plainSize(field) else {
                switch field {
                case .boolean: steps.append(.bool)
                case .string: steps.append(.string)
                default: steps.append(.other(field))
                }
                continue
            }
            if case .plain(let count, size)? = steps.last {
                steps[steps.count - 1] = .plain(count: count + size, alignment: size)
            } else {
                steps.append(.plain(count: size, alignment: size))
            }
        }
        self.steps = steps
    }
    /// Of a type of which any bytes are a value.
    static func plainSize(_ type: DBusType) -> Int? {
        switch type {
        case .byte: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .unixFD: 4
        case .int64, .uint64, .double: 8
        default: nil
        }
    }
}

extension WireReader {
    /// Passes over the fields of a structure, checking them as `skip` does for its type. The reader is at a multiple of
    /// 8.
    package mutating func skip(_ skip: WireSkip) throws(WireFault) {
        for step in skip.steps {
            switch step {
            case .plain(let count, let alignment):
                try align(alignment)
                _ = try raw(count)
            case .bool: _ = try bool()
            case .string: try skipString()
            case .other(let type): try self.skip(type, depth: 1)
            }
        }
    }
}
