import RelayCore
import RelayTool
import RelayWire

/// The way to a value in an event's body: a field, then members of structures, keys of tables, what optionals hold.
struct FieldPath: Equatable, Sendable {
    private enum Step: Equatable, Sendable {
        case unwrap(alignment: Int)
        /// Past the members before it.
        case member([DBusType])
        /// Of a table whose keys are texts.
        case key(String, key: DBusType, value: DBusType)
        /// Of an enum: there if it is this case.
        case variant(String, payload: DBusType)
    }
    /// The fields before it.
    private let before: [DBusType]
    private let steps: [Step]
    /// Of what is at the end.
    let shape: Shape
    /// Whether there may be nothing at the end.
    let isOptional: Bool

    /// Throws with what is wrong with the names, in words for the user.
    init(_ names: [String], in fields: [IntrospectedField], of event: String) throws(Unfit) {
        guard let place = fields.firstIndex(where: { $0.name == names[0] }) else {
            let hint = NearMiss.hint(for: names[0], among: fields.map(\.name))
            throw Unfit("\(event) has no field '\(names[0])'" + hint)
        }
        before = fields[..<place].map(\.shape.type)
        var (steps, shape, isOptional) = ([Step](), fields[place].shape, false)
        func unwrap() {
            while case .optional(let wrapped) = shape {
                steps.append(.unwrap(alignment: wrapped.alignment))
                (shape, isOptional) = (wrapped, true)
            }
        }
        unwrap()
        for (index, name) in names.enumerated().dropFirst() {
            let way = names[..<index].joined(separator: ".")
            switch shape {
            case .structure(let members):
                guard let place = members.firstIndex(where: { $0.name == name }) else {
                    let known = members.compactMap(\.name)
                    throw Unfit("'\(way)' has no field '\(name)'" + NearMiss.hint(for: name, among: known))
                }
                steps.append(.member(members[..<place].map(\.shape.type)))
                shape = members[place].shape
            case .dictionary(let key, let value) where [.string, .objectPath].contains(key):
                steps.append(.key(name, key: key, value: value.type))
                (shape, isOptional) = (value, true)
            case .tagged(let cases):
                guard let variant = cases.first(where: { $0.name == name }) else {
                    throw Unfit("'\(way)' has no case '\(name)'" + NearMiss.hint(for: name, among: cases.map(\.name)))
                }
                if variant.members.isEmpty {
                    throw Unfit("'\(way).\(name)' has no fields; compare '\(way)' with it: \(way) == \(name)")
                }
                steps.append(.variant(name, payload: variant.payload))
                (shape, isOptional) = (.structure(variant.members), true)
            case .array: throw Unfit("'\(way)' is a list, which has no fields; 'contains' looks into it")
            default: throw Unfit("'\(way)' is of type \(shape.text), which has no fields")
            }
            unwrap()
        }
        (self.steps, self.shape, self.isOptional) = (steps, shape, isOptional)
    }

    /// Moves to the value, from the beginning of a body. False: there is none.
    func seek(_ reader: inout WireReader) throws(WireFault) -> Bool {
        for type in before { try reader.skip(type) }
        for step in steps {
            switch step {
            case .unwrap(let alignment):
                let end = try reader.beginArray(elementAlignment: alignment)
                if reader.position == end { return false }
            case .member(let before):
                try reader.align(8)
                for type in before { try reader.skip(type) }
            case .key(let wanted, let key, let value):
                let end = try reader.beginArray(elementAlignment: 8)
                var isFound = false
                while !isFound, reader.position < end {
                    try reader.align(8)
                    isFound = (key == .string ? try reader.string() : try reader.objectPath()) == wanted
                    if !isFound { try reader.skip(value) }
                }
                if !isFound { return false }
            case .variant(let name, let payload):
                try reader.align(8)
                guard try reader.string() == name else { return false }
                // Of another version of the contract: as if it were another case.
                guard try reader.signature().types == [payload] else { return false }
            }
        }
        return true
    }

    /// As expressions compare it.
    func value(in body: UnsafeRawBufferPointer) throws(WireFault) -> FilterValue {
        var reader = WireReader(body)
        return try seek(&reader) ? try Self.value(shape, &reader, depth: 0) : .missing
    }
    private static func value(_ shape: Shape, _ reader: inout WireReader, depth: Int) throws(WireFault) -> FilterValue {
        // Variants within variants have no end.
        if depth > WireLimits.depth { throw WireFault(.tooDeep, at: reader.position) }
        switch shape {
        case .basic(let type), .named(let type, _): return try value(type, &reader)
        case .variant:
            let start = reader.position
            let signature = try reader.signature()
            guard signature.types.count == 1 else {
                throw WireFault(.signature("a variant has one complete type"), at: start)
            }
            return try value(Shape(signature.types[0]), &reader, depth: depth + 1)
        case .optional(let wrapped):
            let end = try reader.beginArray(elementAlignment: wrapped.alignment)
            if reader.position == end { return .missing }
            return try value(wrapped, &reader, depth: depth + 1)
        case .array(let element):
            let end = try reader.beginArray(elementAlignment: element.alignment)
            var values: [FilterValue] = []
            while reader.position < end { values.append(try value(element, &reader, depth: depth + 1)) }
            return .list(values)
        case .dictionary(let key, let element):
            let end = try reader.beginArray(elementAlignment: 8)
            var keys: [FilterValue] = []
            while reader.position < end {
                try reader.align(8)
                keys.append(try value(key, &reader))
                try reader.skip(element.type)
            }
            return .list(keys)
        case .structure:
            try reader.skip(shape.type)
            return .compound
        case .tagged:
            try reader.align(8)
            let name = try reader.string()
            try reader.skip(.variant)
            return .text(name)
        }
    }
    private static func value(_ type: DBusType, _ reader: inout WireReader) throws(WireFault) -> FilterValue {
        switch type {
        case .byte: .number(.signed(Int64(try reader.byte())))
        case .boolean: .bool(try reader.bool())
        case .int16: .number(.signed(Int64(try reader.int16())))
        case .uint16: .number(.signed(Int64(try reader.uint16())))
        case .int32: .number(.signed(Int64(try reader.int32())))
        case .uint32, .unixFD: .number(.signed(Int64(try reader.uint32())))
        case .int64: .number(.signed(try reader.int64()))
        case .uint64: .number(FilterNumber(try reader.uint64()))
        case .double: .number(.double(try reader.double()))
        case .string: .text(try reader.string())
        case .objectPath: .text(try reader.objectPath())
        case .signature: .text(try reader.signature().text)
        // A shape's basic type is basic.
        default: throw WireFault(.signature("not a basic type"), at: reader.position)
        }
    }
}
