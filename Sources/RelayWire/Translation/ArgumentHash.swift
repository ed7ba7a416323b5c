/// A hash of a command's arguments, which distinguishes a repetition from another command with the same key.
///
/// Of names and values: fields count in any order, and one that is nil counts as one that is not there. So a caller of
/// another version repeats its call, as long as both say the same. Dictionaries and sets count in any order, too, as
/// theirs differs from process to process.
///
/// Who finds two commands with the same hash has two of his own: the keys of others are not his.
package struct ArgumentHash: Sendable {
    /// The hashes of one command's arguments.
    package struct Value: Hashable, Sendable {
        /// By the present names.
        package let present: Int64
        /// By those that renamed fields had in earlier versions of the service.
        let former: [Int64]

        /// Whether the arguments of an earlier call, maybe of an earlier version, were the same.
        package func matches(_ earlier: Int64) -> Bool { earlier == present || former.contains(earlier) }
    }
    /// So many combinations of former names are tried: six fields that were renamed once.
    private static let combinations = 64
    /// The fields under their present names, then under each combination of former ones.
    private let forms: [[WireField]]

    package init(_ fields: [WireField]) { forms = Self.forms(fields) }

    package func value(_ body: [UInt8]) throws(RelayError) -> Value {
        let hashes = body.withUnsafeBytes { body in
            Result { () throws(WireFault) in
                try forms.map { fields throws(WireFault) in
                    var reader = WireReader(body)
                    return Int64(bitPattern: try Self.sum(fields, &reader, hasSets: false))
                }
            }
        }
        switch hashes {
        case .success(let hashes): return Value(present: hashes[0], former: Array(hashes.dropFirst()))
        case .failure(let fault): throw fault.relayError("a command's arguments,")
        }
    }

    // MARK: Values

    /// Added up: so the order does not count.
    private static func sum(
        _ fields: [WireField], _ reader: inout WireReader, hasSets: Bool
    ) throws(WireFault) -> UInt64 {
        var sum: UInt64 = 0
        for field in fields {
            var hash = FNV()
            hash.combine(field.name)
            // No name has that.
            hash.combine(byte: 0)
            if try add(field.type, &reader, hasSets: hasSets || field.hasSets, &hash) { sum &+= hash.mixed }
        }
        return sum
    }
    /// False for nil.
    private static func add(
        _ type: WireType, _ reader: inout WireReader, hasSets: Bool, _ hash: inout FNV
    ) throws(WireFault) -> Bool {
        switch type {
        case .bool, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .descriptor:
            try reader.align(type.alignment)
            hash.combine(try reader.raw(type.alignment))
        case .string:
            let text = try reader.stringBytes()
            // So that no text's end is another one's beginning.
            hash.combine(number: UInt64(text.count))
            hash.combine(text)
        case .array(let element): try add(elements: element, &reader, hasSets: hasSets, &hash)
        case .dictionary(let key, let value):
            let end = try reader.beginArray(elementAlignment: 8)
            let start = reader.position
            var (sum, count): (UInt64, UInt64) = (0, 0)
            while reader.position < end {
                try reader.align(8)
                var entry = FNV()
                _ = try add(key, &reader, hasSets: hasSets, &entry)
                _ = try add(value, &reader, hasSets: hasSets, &entry)
                sum &+= entry.mixed
                count += 1
            }
            try reader.endArray(end, elements: start)
            hash.combine(number: count)
            hash.combine(number: sum)
        case .structure(let fields):
            try reader.align(8)
            hash.combine(number: try sum(fields, &reader, hasSets: hasSets))
        case .optional(let wrapped):
            let end = try reader.beginArray(elementAlignment: wrapped.alignment)
            let start = reader.position
            if start == end { return false }
            _ = try add(wrapped, &reader, hasSets: hasSets, &hash)
            try reader.endArray(end, elements: start)
        case .tagged(let variants):
            try reader.align(8)
            let name = try reader.string()
            hash.combine(number: UInt64(name.utf8.count))
            hash.combine(name)
            _ = try reader.signatureBytes()
            guard let fields = variants.first(where: { $0.name == name })?.fields, !fields.isEmpty else {
                // A case without a payload has a byte in its place.
                _ = try reader.byte()
                break
            }
            try reader.align(8)
            hash.combine(number: try sum(fields, &reader, hasSets: hasSets))
        }
        return true
    }
    private static func add(
        elements element: WireType, _ reader: inout WireReader, hasSets: Bool, _ hash: inout FNV
    ) throws(WireFault) {
        let end = try reader.beginArray(elementAlignment: element.alignment)
        let start = reader.position
        if !hasSets && element.isNumber {
            hash.combine(number: UInt64(end - start))
            return hash.combine(try reader.raw(end - start))
        }
        var (sum, count): (UInt64, UInt64) = (0, 0)
        while reader.position < end {
            var one = FNV()
            let isThere = try add(element, &reader, hasSets: hasSets, &one)
            one.combine(byte: isThere ? 1 : 0)
            if hasSets { sum &+= one.mixed } else { hash.combine(number: one.value) }
            count += 1
        }
        try reader.endArray(end, elements: start)
        hash.combine(number: count)
        if hasSets { hash.combine(number: sum) }
    }

    // MARK: Names

    private static func forms(_ fields: [WireField]) -> [[WireField]] {
        var forms: [[WireField]] = [[]]
        for field in fields {
            let types = Self.forms(field.type)
            let variants = ([field.name] + field.formerNames).flatMap { name in
                types.map { WireField(name: name, type: $0, hasSets: field.hasSets) }
            }
            // The present names first: they are the first combination.
            forms = Array(variants.lazy.flatMap { variant in forms.map { $0 + [variant] } }.prefix(combinations))
        }
        return forms
    }
    private static func forms(_ variants: [WireVariant]) -> [[WireVariant]] {
        var all: [[WireVariant]] = [[]]
        for variant in variants {
            let payloads = forms(variant.fields).map { WireVariant(name: variant.name, fields: $0) }
            all = Array(payloads.lazy.flatMap { payload in all.map { $0 + [payload] } }.prefix(combinations))
        }
        return all
    }
    private static func forms(_ type: WireType) -> [WireType] {
        switch type {
        case .array(let element): forms(element).map { .array($0) }
        case .optional(let wrapped): forms(wrapped).map { .optional($0) }
        case .dictionary(let key, let value): forms(value).map { .dictionary(key, $0) }
        case .structure(let fields): forms(fields).map { .structure($0) }
        case .tagged(let variants): forms(variants).map { .tagged($0) }
        default: [type]
        }
    }
}

extension FNV {
    /// For a sum: two values that are exchanged between two fields would else often give the same one.
    fileprivate var mixed: UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

extension WireType {
    /// Each of its values is of as many bytes, with nothing between them.
    fileprivate var isNumber: Bool {
        switch self {
        case .bool, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: true
        default: false
        }
    }
}

/// How the calls of one command are compared.
package struct CommandHash<C: Command>: Sendable {
    private let codec: WireCodec<C>
    private let arguments: ArgumentHash

    /// Derives the command's schema: make it once, not for each call.
    package init() throws {
        codec = try WireCodec(C.self)
        arguments = ArgumentHash(codec.schema.fields)
    }
    /// The same for the same arguments, in this version and in others that take them.
    package func value(_ command: C) throws -> ArgumentHash.Value {
        var writer = WireWriter()
        try codec.encode(command, into: &writer)
        return try arguments.value(writer.takeBytes())
    }
}
