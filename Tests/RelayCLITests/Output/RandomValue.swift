import RelayCore
import RelayTool
import TestTraits

@testable import relay_cli
import RelayWire

/// Random shapes, with values of them on the wire and as the JSON that they should become.
struct RandomValue {
    var generator: SeededGenerator

    private mutating func pick(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

    /// Without variants and descriptors: those cannot be typed in as they came.
    mutating func shape(depth: Int) -> Shape {
        let basics: [DBusType] = [
            .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath,
            .signature,
        ]
        if depth == 0 { return .basic(basics[pick(basics.count)]) }
        switch pick(9) {
        case 8:
            return .tagged(
                (0...pick(2)).map { index in
                    Shape.Case(
                        name: "c\(index)",
                        members: (0..<pick(3)).map { Shape.Member(name: "_\($0)", shape: shape(depth: depth - 1)) })
                })
        case 0: return .array(shape(depth: depth - 1))
        case 1:
            let wrapped = shape(depth: depth - 1)
            // null cannot tell an absent optional from one that holds an absent one.
            if case .optional = wrapped { return wrapped }
            return .optional(wrapped)
        case 2: return .dictionary(basics[pick(basics.count)], shape(depth: depth - 1))
        case 3, 4:
            let hasNames = pick(2) == 0
            let members = (0...pick(3)).map { index in
                Shape.Member(name: hasNames ? "f\(index)" : nil, shape: shape(depth: depth - 1))
            }
            return .structure(members)
        default: return .basic(basics[pick(basics.count)])
        }
    }

    /// Writes a value, and returns it as JSON.
    mutating func write(_ shape: Shape, to writer: inout WireWriter) throws -> JSONValue {
        switch shape {
        case .basic(let type), .named(let type, _): return try write(type, to: &writer)
        case .variant:
            writer.signature(try Signature("i"))
            writer.int32(7)
            return .number("7")
        case .array(let element):
            let mark = writer.beginArray(elementAlignment: element.alignment)
            let values = try (0..<pick(4)).map { _ in try write(element, to: &writer) }
            try writer.endArray(mark)
            return .array(values)
        case .optional(let wrapped):
            let mark = writer.beginArray(elementAlignment: wrapped.alignment)
            let value = pick(2) == 0 ? JSONValue.null : try write(wrapped, to: &writer)
            try writer.endArray(mark)
            return value
        case .dictionary(let key, let element):
            let mark = writer.beginArray(elementAlignment: 8)
            let members = try (0..<pick(4)).map { _ in
                writer.align(8)
                let key = try write(key, to: &writer)
                return JSONValue.Member(key: Self.keyText(key), value: try write(element, to: &writer))
            }
            try writer.endArray(mark)
            return .object(members)
        case .structure(let members):
            writer.align(8)
            let values = try members.map { try write($0.shape, to: &writer) }
            guard members.allSatisfy({ $0.name != nil }) else { return .array(values) }
            return .object(zip(members, values).map { .init(key: $0.name ?? "", value: $1) })
        case .tagged(let cases):
            let variant = cases[pick(cases.count)]
            writer.align(8)
            try writer.string(variant.name)
            writer.signature(try Signature(types: [variant.payload]))
            if variant.members.isEmpty {
                writer.byte(0)
                return .string(variant.name)
            }
            return .object([.init(key: variant.name, value: try write(.structure(variant.members), to: &writer))])
        }
    }

    private static func keyText(_ key: JSONValue) -> String {
        switch key {
        case .string(let text), .number(let text): text
        case .bool(let value): "\(value)"
        default: "?"
        }
    }

    private mutating func integer<I: FixedWidthInteger>(_ type: I.Type) -> I {
        switch pick(4) {
        case 0: I.min
        case 1: I.max
        default: I(truncatingIfNeeded: generator.next())
        }
    }

    private mutating func write(_ type: DBusType, to writer: inout WireWriter) throws -> JSONValue {
        switch type {
        case .byte:
            let value = integer(UInt8.self)
            writer.byte(value)
            return .number("\(value)")
        case .boolean:
            let value = pick(2) == 0
            writer.bool(value)
            return .bool(value)
        case .int16:
            let value = integer(Int16.self)
            writer.int16(value)
            return .number("\(value)")
        case .uint16:
            let value = integer(UInt16.self)
            writer.uint16(value)
            return .number("\(value)")
        case .int32:
            let value = integer(Int32.self)
            writer.int32(value)
            return .number("\(value)")
        case .uint32:
            let value = integer(UInt32.self)
            writer.uint32(value)
            return .number("\(value)")
        case .int64:
            let value = integer(Int64.self)
            writer.int64(value)
            return .number("\(value)")
        case .uint64:
            let value = integer(UInt64.self)
            writer.uint64(value)
            return .number("\(value)")
        case .double:
            let edges: [Double] = [0, -0.0, 1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 1e300, 0.1]
            let random = Double(bitPattern: generator.next())
            let value = pick(2) == 0 ? edges[pick(edges.count)] : random.isNaN ? .nan : random
            writer.double(value)
            if value.isNaN { return .string("NaN") }
            if value.isInfinite { return .string(value < 0 ? "-Infinity" : "Infinity") }
            return .number(value.description)
        case .string:
            let texts = ["", "Kitchen", "\"\\\n\u{1B}[2J", "台所 👨‍👩‍👧", "\u{2028}\u{202E}", "null", "1"]
            let value = texts[pick(texts.count)]
            try writer.string(value)
            return .string(value)
        case .objectPath:
            let value = ["/", "/a/b_1"][pick(2)]
            try writer.objectPath(value)
            return .string(value)
        default:
            let value = ["", "a{sv}", "(ii)"][pick(3)]
            writer.signature(try Signature(value))
            return .string(value)
        }
    }
}
