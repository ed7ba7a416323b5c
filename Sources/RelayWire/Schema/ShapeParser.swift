/// Reads shapes (see `WireType.shape`) from text that may be anything.
struct ShapeParser {
    /// Longer texts describe nothing that a signature of 255 characters could carry.
    static let longest = 1 << 16

    private let text: String
    private let utf8: [UInt8]
    private var index = 0

    init(_ text: String) { (self.text, utf8) = (text, Array(text.utf8.prefix(Self.longest + 1))) }

    mutating func wholeField() throws(RelayError) -> WireField {
        let field = try field(arrays: 0, structures: 0)
        try end()
        return field
    }
    mutating func wholeType() throws(RelayError) -> WireType {
        let type = try type(arrays: 0, structures: 0)
        try end()
        return type
    }

    private func end() throws(RelayError) { if index != utf8.count { throw refusal("something follows it") } }

    private func refusal(_ reason: String) -> RelayError {
        RelayError(
            .invalidArgument,
            "\(BusNames.quoted(text)) is no description of a field, at character \(index + 1): \(reason)")
    }
    private func peek() -> UInt8? { index < utf8.count ? utf8[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        if peek() != UInt8(ascii: character) { return false }
        index += 1
        return true
    }
    private mutating func field(arrays: Int, structures: Int) throws(RelayError) -> WireField {
        if utf8.count > Self.longest { throw refusal("it is longer than \(Self.longest) bytes") }
        let name = try name()
        var formerNames: [String] = []
        while take("|") { formerNames.append(try self.name()) }
        if Set(formerNames + [name]).count != formerNames.count + 1 {
            throw refusal("the field '\(name)' has a name twice")
        }
        if !take(":") { throw refusal("':' and a type are missing") }
        return WireField(
            name: name, type: try type(arrays: arrays, structures: structures), formerNames: formerNames)
    }
    private mutating func name() throws(RelayError) -> String {
        let start = index
        while let byte = peek(), byte != UInt8(ascii: ":"), byte != UInt8(ascii: "|") { index += 1 }
        let name = String(decoding: utf8[start..<index], as: UTF8.self)
        if !BusNames.isMember(name) { throw refusal("\(BusNames.quoted(name)) is no name of a field") }
        return name
    }
    private mutating func type(arrays: Int, structures: Int) throws(RelayError) -> WireType {
        if arrays > WireLimits.depthOfOneKind || structures > WireLimits.depthOfOneKind {
            throw refusal("nested deeper than D-Bus allows (\(WireLimits.depthOfOneKind))")
        }
        guard let code = peek() else { throw refusal("it ends within a type") }
        index += 1
        if let basic = Self.basic(code) { return basic }
        switch code {
        case UInt8(ascii: "a"):
            return take("{")
                ? try dictionary(arrays: arrays + 1, structures: structures)
                : .array(try type(arrays: arrays + 1, structures: structures))
        case UInt8(ascii: "?"):
            if peek() == UInt8(ascii: "?") { throw refusal("an optional of an optional") }
            return .optional(try type(arrays: arrays + 1, structures: structures))
        case UInt8(ascii: "("): return try structure(arrays: arrays, structures: structures + 1)
        default:
            index -= 1
            throw refusal("no type begins like this")
        }
    }
    private mutating func dictionary(arrays: Int, structures: Int) throws(RelayError) -> WireType {
        let key = try type(arrays: arrays, structures: structures)
        if !key.isBasic { throw refusal("a dictionary's key must be a basic type") }
        let value = try type(arrays: arrays, structures: structures)
        if !take("}") { throw refusal("'}' is missing") }
        return .dictionary(key, value)
    }
    private mutating func structure(arrays: Int, structures: Int) throws(RelayError) -> WireType {
        var fields: [WireField] = []
        var names: Set<String> = []
        repeat {
            let field = try field(arrays: arrays, structures: structures)
            if !names.insert(field.name).inserted { throw refusal("two fields named '\(field.name)'") }
            fields.append(field)
        } while take(",")
        if !take(")") { throw refusal("')' is missing") }
        return .structure(fields)
    }
    private static func basic(_ code: UInt8) -> WireType? {
        switch code {
        case UInt8(ascii: "b"): .bool
        case UInt8(ascii: "y"): .byte
        case UInt8(ascii: "n"): .int16
        case UInt8(ascii: "q"): .uint16
        case UInt8(ascii: "i"): .int32
        case UInt8(ascii: "u"): .uint32
        case UInt8(ascii: "x"): .int64
        case UInt8(ascii: "t"): .uint64
        case UInt8(ascii: "d"): .double
        case UInt8(ascii: "s"): .string
        case UInt8(ascii: "h"): .descriptor
        default: nil
        }
    }
}
