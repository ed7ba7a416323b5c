import RelayCore
package import RelayWire

/// Writes values straight from their bytes, as JSON; for people too, so that what is shown can be given to `call`.
///
/// JSON has no NaN and no infinities: they are the strings "NaN", "Infinity" and "-Infinity". Integers have all their
/// digits. Bytes are arrays of numbers. A variant is its value. An enum with payloads is `"idle"` where the case has none,
/// and `{"printing":{"page":3}}` where it has one. A dictionary's keys are strings. A value that has a name is that
/// name, without quotes where it stands alone: who wants JSON gives a shape without names.
package enum ValuePrinter {
    /// Throws when the bytes are no such value.
    ///
    /// - Parameters:
    ///   - longest: of an array with more numbers than this the first half as many are written, and how many follow.
    ///   - isShort: whether numbers with decimals are rounded to what a person can read.
    package static func append(
        _ shape: Shape, from reader: inout WireReader, to output: inout ByteBuffer, longest: Int = .max,
        isShort: Bool = false
    ) throws(WireFault) {
        try append(shape, from: &reader, to: &output, Form(longest: longest, isShort: isShort), depth: 0)
    }
    private struct Form {
        let longest: Int
        let isShort: Bool
    }

    private static func append(
        _ shape: Shape, from reader: inout WireReader, to output: inout ByteBuffer, _ form: Form, depth: Int
    ) throws(WireFault) {
        // A signature's depth is bounded; variants within variants are not.
        if depth > WireLimits.depth { throw WireFault(.tooDeep, at: reader.position) }
        switch shape {
        case .basic(let type):
            try append(type, from: &reader, to: &output, isShort: form.isShort)
        case .named(let type, let cases):
            try append(type, cases, from: &reader, to: &output, isQuoted: depth > 0)
        case .variant:
            let start = reader.position
            let signature = try reader.signature()
            guard signature.types.count == 1 else {
                throw WireFault(.signature("a variant has one complete type"), at: start)
            }
            try append(Shape(signature.types[0]), from: &reader, to: &output, form, depth: depth + 1)
        case .array(let element):
            let end = try reader.beginArray(elementAlignment: element.alignment)
            let start = reader.position
            output.append(byte: UInt8(ascii: "["))
            if let size = size(ofNumber: element), (end - start) / size > form.longest, (end - start) % size == 0 {
                for _ in 0..<form.longest / 2 {
                    try append(element, from: &reader, to: &output, form, depth: depth + 1)
                    output.append(byte: UInt8(ascii: ","))
                }
                output.append("… ")
                output.append(decimal: UInt64((end - reader.position) / size))
                output.append(" more]")
                _ = try reader.raw(end - reader.position)
                return
            }
            while reader.position < end {
                if reader.position > start { output.append(byte: UInt8(ascii: ",")) }
                try append(element, from: &reader, to: &output, form, depth: depth + 1)
            }
            try reader.endArray(end, elements: start)
            output.append(byte: UInt8(ascii: "]"))
        case .optional(let wrapped):
            let end = try reader.beginArray(elementAlignment: wrapped.alignment)
            let start = reader.position
            if start == end { return output.append("null") }
            try append(wrapped, from: &reader, to: &output, form, depth: depth + 1)
            if reader.position < end { throw WireFault(.optional, at: start) }
            try reader.endArray(end, elements: start)
        case .dictionary(let key, let value):
            let end = try reader.beginArray(elementAlignment: 8)
            let start = reader.position
            output.append(byte: UInt8(ascii: "{"))
            while reader.position < end {
                if reader.position > start { output.append(byte: UInt8(ascii: ",")) }
                try reader.align(8)
                try append(key: key, from: &reader, to: &output)
                output.append(byte: UInt8(ascii: ":"))
                try append(value, from: &reader, to: &output, form, depth: depth + 1)
            }
            try reader.endArray(end, elements: start)
            output.append(byte: UInt8(ascii: "}"))
        case .structure(let members):
            try reader.align(8)
            try append(members, from: &reader, to: &output, form, depth: depth)
        case .tagged(let cases):
            try append(cases, from: &reader, to: &output, form, depth: depth)
        }
    }
    private static func append(
        _ cases: [Shape.Case], from reader: inout WireReader, to output: inout ByteBuffer, _ form: Form, depth: Int
    ) throws(WireFault) {
        try reader.align(8)
        let name = try reader.string()
        let start = reader.position
        let signature = try reader.signature()
        guard signature.types.count == 1 else {
            throw WireFault(.signature("a variant has one complete type"), at: start)
        }
        let type = signature.types[0]
        let known = cases.first { $0.name == name }
        if let known, known.members.isEmpty, type.isInteger {
            try reader.skip(type)
            return SafeText.append(quoted: name, to: &output)
        }
        output.append(byte: UInt8(ascii: "{"))
        SafeText.append(quoted: name, to: &output)
        output.append(byte: UInt8(ascii: ":"))
        // A case that the description lacks is shown as far as its signature shows it.
        let shape = known.flatMap { $0.payload == type ? Shape.structure($0.members) : nil } ?? Shape(type)
        try append(shape, from: &reader, to: &output, form, depth: depth + 2)
        output.append(byte: UInt8(ascii: "}"))
    }

    /// The name of a value; the value itself where it has none.
    private static func append(
        _ type: DBusType, _ cases: [WireCase], from reader: inout WireReader, to output: inout ByteBuffer,
        isQuoted: Bool
    ) throws(WireFault) {
        let raw: WireCase.Raw
        switch type {
        case .byte: raw = .signed(Int64(try reader.byte()))
        case .int16: raw = .signed(Int64(try reader.int16()))
        case .uint16: raw = .signed(Int64(try reader.uint16()))
        case .int32: raw = .signed(Int64(try reader.int32()))
        case .uint32: raw = .signed(Int64(try reader.uint32()))
        case .int64: raw = .signed(try reader.int64())
        case .uint64:
            let value = try reader.uint64()
            raw = Int64(exactly: value).map { .signed($0) } ?? .unsigned(value)
        case .string: raw = .text(try reader.string())
        default: throw WireFault(.signature("no type whose values have names"), at: reader.position)
        }
        if let name = cases.first(where: { $0.raw == raw })?.name {
            return isQuoted ? SafeText.append(quoted: name, to: &output) : SafeText.append(name, to: &output)
        }
        switch raw {
        case .signed(let value): output.append(decimal: value)
        case .unsigned(let value): output.append(decimal: value)
        case .text(let text): SafeText.append(quoted: text, to: &output)
        }
    }

    /// Bytes on the wire of what has as many for every value, each of them valid.
    private static func size(ofNumber shape: Shape) -> Int? {
        switch shape {
        case .basic(.byte), .basic(.int16), .basic(.uint16), .basic(.int32), .basic(.uint32), .basic(.int64),
            .basic(.uint64), .basic(.double):
            shape.alignment
        default: nil
        }
    }

    /// An object where the names are known, else an array.
    private static func append(
        _ members: [Shape.Member], from reader: inout WireReader, to output: inout ByteBuffer, _ form: Form,
        depth: Int
    ) throws(WireFault) {
        let hasNames = members.allSatisfy { $0.name != nil }
        output.append(byte: UInt8(ascii: hasNames ? "{" : "["))
        for (index, member) in members.enumerated() {
            if index > 0 { output.append(byte: UInt8(ascii: ",")) }
            if hasNames, let name = member.name {
                SafeText.append(quoted: name, to: &output)
                output.append(byte: UInt8(ascii: ":"))
            }
            try append(member.shape, from: &reader, to: &output, form, depth: depth + 1)
        }
        output.append(byte: UInt8(ascii: hasNames ? "}" : "]"))
    }

    private static func append(
        key: DBusType, from reader: inout WireReader, to output: inout ByteBuffer
    ) throws(WireFault) {
        switch key {
        case .string, .objectPath, .signature:
            try append(key, from: &reader, to: &output)
        case .double:
            SafeText.append(quoted: text(try reader.double()), to: &output)
        default:
            output.append(byte: UInt8(ascii: "\""))
            try append(key, from: &reader, to: &output)
            output.append(byte: UInt8(ascii: "\""))
        }
    }

    private static func append(
        _ type: DBusType, from reader: inout WireReader, to output: inout ByteBuffer, isShort: Bool = false
    ) throws(WireFault) {
        switch type {
        case .byte: output.append(decimal: UInt64(try reader.byte()))
        case .boolean: output.append(try reader.bool() ? "true" : "false")
        case .int16: output.append(decimal: Int64(try reader.int16()))
        case .uint16: output.append(decimal: UInt64(try reader.uint16()))
        case .int32: output.append(decimal: Int64(try reader.int32()))
        case .uint32, .unixFD: output.append(decimal: UInt64(try reader.uint32()))
        case .int64: output.append(decimal: try reader.int64())
        case .uint64: output.append(decimal: try reader.uint64())
        case .double:
            let value = try reader.double()
            if value.isFinite {
                output.append(isShort ? ShortNumber.text(value) : value.description)
            } else {
                SafeText.append(quoted: text(value), to: &output)
            }
        case .string: SafeText.append(quoted: try reader.string(), to: &output)
        case .objectPath: SafeText.append(quoted: try reader.objectPath(), to: &output)
        case .signature: SafeText.append(quoted: try reader.signature().text, to: &output)
        case .variant, .array, .dictionary, .structure:
            // A shape's basic type and a dictionary's key are basic; `Shape` and `ShapeParser` see to it.
            throw WireFault(.signature("not a basic type"), at: reader.position)
        }
    }

    /// As JSON has it where it can, else in words.
    package static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return value.description
    }
}
