import RelayCore
import RelayTool
import RelayWire

/// Turns what was typed into a command's arguments, by its signature.
struct ArgumentEncoder {
    private var writer = WireWriter()

    /// The body of a call. Unknown and missing keys are `.usage`; a value that does not fit is `.badValue`.
    static func body(
        of command: IntrospectedCommand, from arguments: [Call.Argument]
    ) throws(CLIFailure) -> [UInt8] {
        let names = command.arguments.map(\.name)
        if let unknown = arguments.first(where: { !names.contains($0.key) }) {
            let hint = NearMiss.hint(for: unknown.key, among: names)
            let known = names.isEmpty ? "; it takes none" : "; it takes \(names.joined(separator: ", "))"
            throw CLIFailure(
                .usage, "'\(command.name)' has no argument '\(unknown.key)'" + (hint.isEmpty ? known : hint))
        }
        let missing = command.arguments.filter { field in
            if case .optional = field.shape { return false }
            return !arguments.contains { $0.key == field.name }
        }
        if !missing.isEmpty {
            throw CLIFailure(
                .usage,
                "'\(command.name)' needs \(Words.list(missing.map { "'\($0.name)'" })): "
                    + missing.map { "\($0.name)=<\($0.shape.text)>" }.joined(separator: " ")
                    + "; 'call \(command.name) --help' explains \(missing.count == 1 ? "it" : "them")")
        }
        var encoder = ArgumentEncoder()
        for field in command.arguments {
            if let given = arguments.first(where: { $0.key == field.name }) {
                try encoder.write(given.value, as: field.shape, at: field.name)
            } else {
                try encoder.write(.null, as: field.shape, at: field.name)
            }
        }
        return encoder.writer.bytes
    }

    /// The fields of a document's state: those that were typed, and the others as they are.
    static func fields(
        _ fields: [IntrospectedField], of document: String, _ present: [DBusValue], changing changes: [Call.Argument]
    ) throws(CLIFailure) -> [UInt8] {
        let names = fields.map(\.name)
        if let unknown = changes.first(where: { !names.contains($0.key) }) {
            let hint = NearMiss.hint(for: unknown.key, among: names)
            throw CLIFailure(
                .usage,
                "'\(document)' has no field '\(unknown.key)'"
                    + (hint.isEmpty ? "; it has \(names.joined(separator: ", "))" : hint))
        }
        var encoder = ArgumentEncoder()
        for (field, value) in zip(fields, present) {
            if let given = changes.first(where: { $0.key == field.name }) {
                if case .optional = field.shape, given.value == "null" {
                    try encoder.write(.null, as: field.shape, at: field.name)
                } else {
                    try encoder.write(given.value, as: field.shape, at: field.name)
                }
            } else {
                do { try DBusValue.encode([value], into: &encoder.writer) } catch {
                    throw CLIFailure(.software, "'\(document)', field '\(field.name)': \(error.message)")
                }
            }
        }
        return encoder.writer.bytes
    }

    /// What was typed for a whole argument: JSON where it has parts, else the bare value.
    private mutating func write(_ text: String, as shape: Shape, at place: String) throws(CLIFailure) {
        switch shape {
        case .basic(let type):
            try write(text, as: type, at: place)
        case .named(let type, let cases):
            try write(text, as: type, cases, at: place)
        // A bare word is a case.
        case .tagged where BusNames.isMember(text): try write(.string(text), as: shape, at: place)
        case .optional(.tagged) where BusNames.isMember(text) && text != "null":
            try write(.string(text), as: shape, at: place)
        case .optional(.named(let type, let cases)):
            if text == "null" && type != .string { return try write(.null, as: shape, at: place) }
            let mark = writer.beginArray(elementAlignment: type.alignment)
            try write(text, as: type, cases, at: place)
            try end(mark, at: place)
        case .optional(.basic(let type)):
            // A text may be "null" itself; leave the argument out to have none.
            let isNull = text == "null" && type != .string
            if isNull { return try write(.null, as: shape, at: place) }
            let mark = writer.beginArray(elementAlignment: type.alignment)
            try write(text, as: type, at: place)
            try end(mark, at: place)
        default:
            let value: JSONValue
            do throws(JSONParser.Failure) {
                value = try JSONParser.parse(text)
            } catch {
                throw CLIFailure(
                    .badValue,
                    "'\(place)' needs JSON for \(shape.text); '\(text)' is none: \(error.reason) at byte \(error.offset)"
                )
            }
            try write(value, as: shape, at: place)
        }
    }

    private mutating func write(_ value: JSONValue, as shape: Shape, at place: String) throws(CLIFailure) {
        switch (shape, value) {
        case (.optional(let wrapped), _):
            let mark = writer.beginArray(elementAlignment: wrapped.alignment)
            if value != .null { try write(value, as: wrapped, at: place) }
            try end(mark, at: place)
        case (.named(let type, let cases), .string(let text)):
            try write(text, as: type, cases, at: place)
        case (.named(let type, _), .number(let text)) where !type.isText:
            try write(text, as: type, at: place)
        case (.basic(let type), .string(let text)) where type.isText || type == .double:
            try write(text, as: type, at: place)
        case (.basic(let type), .number(let text)) where !type.isText && type != .boolean:
            try write(text, as: type, at: place)
        case (.basic(.boolean), .bool(let flag)):
            writer.bool(flag)
        case (.array(let element), .array(let values)):
            let mark = writer.beginArray(elementAlignment: element.alignment)
            for (index, value) in values.enumerated() { try write(value, as: element, at: "\(place)[\(index)]") }
            try end(mark, at: place)
        case (.dictionary(let key, let valueShape), .object(let members)):
            let mark = writer.beginArray(elementAlignment: 8)
            for member in members {
                writer.align(8)
                try write(member.key, as: key, at: "\(place), key '\(member.key)'")
                try write(member.value, as: valueShape, at: "\(place).\(member.key)")
            }
            try end(mark, at: place)
        case (.structure(let fields), .object(let members)) where fields.allSatisfy({ $0.name != nil }):
            writer.align(8)
            try write(members, as: fields, at: place)
        case (.structure(let fields), .array(let values)) where fields.count == values.count:
            writer.align(8)
            for (index, field) in fields.enumerated() {
                try write(values[index], as: field.shape, at: "\(place).\(field.name ?? String(index))")
            }
        case (.tagged(let cases), .string(let name)):
            try write(try known(name, among: cases, at: place), nil, at: place)
        case (.tagged(let cases), .object(let members)) where members.count == 1:
            try write(try known(members[0].key, among: cases, at: place), members[0].value, at: place)
        case (.variant, _):
            try writeVariant(value, at: place)
        default:
            throw CLIFailure(.badValue, "'\(place)' is \(value.kind); it must be \(shape.text)")
        }
    }

    private mutating func write(
        _ members: [JSONValue.Member], as fields: [Shape.Member], at place: String
    ) throws(CLIFailure) {
        let names = fields.compactMap(\.name)
        if let unknown = members.first(where: { !names.contains($0.key) }) {
            let hint = NearMiss.hint(for: unknown.key, among: names)
            throw CLIFailure(
                .badValue,
                "'\(place)' has no field '\(unknown.key)'"
                    + (hint.isEmpty ? "; it has \(names.joined(separator: ", "))" : hint))
        }
        for field in fields {
            let name = field.name ?? ""
            let given = members.filter { $0.key == name }
            if given.count > 1 { throw CLIFailure(.badValue, "'\(place).\(name)' is given twice") }
            if let value = given.first?.value {
                try write(value, as: field.shape, at: "\(place).\(name)")
            } else if case .optional = field.shape {
                try write(.null, as: field.shape, at: "\(place).\(name)")
            } else {
                throw CLIFailure(.badValue, "'\(place)' lacks '\(name)', which must be \(field.shape.text)")
            }
        }
    }

    private func known(
        _ name: String, among cases: [Shape.Case], at place: String
    ) throws(CLIFailure) -> Shape.Case {
        if let known = cases.first(where: { $0.name == name }) { return known }
        let hint = NearMiss.hint(for: name, among: cases.map(\.name))
        throw CLIFailure(
            .badValue,
            "'\(place)' has no case '\(name)'" + (hint.isEmpty ? "; it is \(Shape.tagged(cases).text)" : hint))
    }
    /// A case of an enum, with its payload.
    private mutating func write(
        _ variant: Shape.Case, _ payload: JSONValue?, at place: String
    ) throws(CLIFailure) {
        let shape = Shape.structure(variant.members)
        if variant.members.isEmpty && payload != nil && payload != .object([]) {
            throw CLIFailure(.badValue, "'\(place)': '\(variant.name)' has no payload; it is \"\(variant.name)\"")
        }
        writer.align(8)
        do {
            try writer.string(variant.name)
            writer.signature(try Signature(types: [variant.payload]))
        } catch { throw CLIFailure(.badValue, "'\(place)': \(error.message)") }
        if variant.members.isEmpty { return writer.byte(0) }
        guard let payload else {
            let form = "{\"\(variant.name)\":…}"
            throw CLIFailure(.badValue, "'\(place)': '\(variant.name)' has a payload: \(form), of \(shape.text)")
        }
        try write(payload, as: shape, at: "\(place).\(variant.name)")
    }

    /// A variant has its own type: the one that the JSON suggests.
    private mutating func writeVariant(_ value: JSONValue, at place: String) throws(CLIFailure) {
        let type: DBusType? =
            switch value {
            case .bool: .boolean
            case .string: .string
            case .number(let text): Int64(text) != nil ? .int64 : UInt64(text) != nil ? .uint64 : .double
            case .null, .array, .object: nil
            }
        guard let type, let signature = try? Signature(types: [type]) else {
            throw CLIFailure(
                .badValue, "'\(place)' is \(value.kind); a variant is a number, a text, true or false here")
        }
        writer.signature(signature)
        try write(value, as: .basic(type), at: place)
    }

    /// The name of a value, or the value itself.
    private mutating func write(
        _ text: String, as type: DBusType, _ cases: [WireCase], at place: String
    ) throws(CLIFailure) {
        switch cases.first(where: { $0.name == text })?.raw {
        // A text that is itself one of the values means that one.
        case .text(let raw)?: try write(cases.contains { $0.raw == .text(text) } ? text : raw, as: type, at: place)
        case .signed(let raw)?: try write("\(raw)", as: type, at: place)
        case .unsigned(let raw)?: try write("\(raw)", as: type, at: place)
        case nil:
            let isRaw =
                type == .string ? cases.contains { $0.raw == .text(text) } : Int64(text) != nil || UInt64(text) != nil
            if isRaw { return try write(text, as: type, at: place) }
            let names = cases.map(\.name)
            let hint = NearMiss.hint(for: text, among: names)
            let values = names.dropLast().joined(separator: ", ") + (names.count > 1 ? " or " : "") + (names.last ?? "")
            throw CLIFailure(
                .badValue, "'\(place)' is '\(text)'" + (hint.isEmpty ? "; it must be \(values)" : hint))
        }
    }

    private mutating func write(_ text: String, as type: DBusType, at place: String) throws(CLIFailure) {
        switch type {
        case .boolean:
            guard text == "true" || text == "false" else {
                throw CLIFailure(.badValue, "'\(place)' is '\(text)'; it must be true or false")
            }
            writer.bool(text == "true")
        case .byte: writer.byte(try integer(text, as: type, at: place))
        case .int16: writer.int16(try integer(text, as: type, at: place))
        case .uint16: writer.uint16(try integer(text, as: type, at: place))
        case .int32: writer.int32(try integer(text, as: type, at: place))
        case .uint32: writer.uint32(try integer(text, as: type, at: place))
        case .int64: writer.int64(try integer(text, as: type, at: place))
        case .uint64: writer.uint64(try integer(text, as: type, at: place))
        case .double: writer.double(try double(text, at: place))
        case .string, .objectPath, .signature:
            do {
                switch type {
                case .objectPath: try writer.objectPath(text)
                case .signature: writer.signature(try Signature(text))
                default: try writer.string(text, named: "'\(place)'")
                }
            } catch {
                throw CLIFailure(.badValue, "'\(place)': \(error.message)")
            }
        default:
            throw CLIFailure(.badValue, "'\(place)' is \(type.name), which cannot be given on a command line")
        }
    }

    private func integer<I: FixedWidthInteger>(
        _ text: String, as type: DBusType, at place: String
    ) throws(CLIFailure) -> I {
        // Swift takes a leading '+' as well; nothing else but digits and a sign.
        guard let value = I(text) else {
            throw CLIFailure(.badValue, "'\(place)' is '\(text)'; it must be \(type.name), from \(I.min) to \(I.max)")
        }
        return value
    }

    private func double(_ text: String, at place: String) throws(CLIFailure) -> Double {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default:
            let isDecimal = text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)  // + - . E e
            }
            guard isDecimal, let value = Double(text), value.isFinite else {
                throw CLIFailure(
                    .badValue, "'\(place)' is '\(text)'; it must be a number, NaN, Infinity or -Infinity")
            }
            return value
        }
    }

    private mutating func end(_ mark: WireWriter.ArrayMark, at place: String) throws(CLIFailure) {
        do { try writer.endArray(mark) } catch { throw CLIFailure(.badValue, "'\(place)': \(error.message)") }
    }
}

extension DBusType {
    /// Travels as text.
    fileprivate var isText: Bool { self == .string || self == .objectPath || self == .signature }
}
