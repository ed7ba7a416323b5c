/// Reads shapes (see `WireType.shape`), with and without former names, from text that may be anything.
struct ShapeParser {
    /// A type whose field has a longer description is refused at its registration.
    static let longest = 1 << 16

    private let text: String
    private let utf8: [UInt8]
    private var index = 0

    init(_ text: String) { (self.text, utf8) = (text, Array(text.utf8.prefix(Self.longest + 1))) }

    mutating func wholeField() throws(RelayError) -> WireField {
        let field = try field(Nesting())
        try end()
        return field
    }
    mutating func wholeType() throws(RelayError) -> WireType {
        let type = try type(Nesting())
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
    private mutating func field(_ nesting: Nesting) throws(RelayError) -> WireField {
        if utf8.count > Self.longest { throw refusal("it is longer than \(Self.longest) bytes") }
        let name = try name("field")
        var formerNames: [String] = []
        while take("|") { formerNames.append(try self.name("field")) }
        if Set(formerNames + [name]).count != formerNames.count + 1 {
            throw refusal("the field '\(name)' has a name twice")
        }
        if !take(":") { throw refusal("':' and a type are missing") }
        return WireField(name: name, type: try type(nesting), formerNames: formerNames)
    }
    private mutating func name(_ kind: String) throws(RelayError) -> String {
        let start = index
        while let byte = peek(), !Self.endsName(byte) { index += 1 }
        let name = String(decoding: utf8[start..<index], as: UTF8.self)
        if !BusNames.isMember(name) { throw refusal("\(BusNames.quoted(name)) is no name of a \(kind)") }
        return name
    }
    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ":"), UInt8(ascii: "|"), UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "]"):
            true
        default: false
        }
    }
    private mutating func type(_ nesting: Nesting) throws(RelayError) -> WireType {
        if nesting.isTooDeep { throw refusal("nested deeper than D-Bus allows (\(WireLimits.depthOfOneKind))") }
        guard let code = peek() else { throw refusal("it ends within a type") }
        index += 1
        if let basic = Self.basic(code) { return basic }
        switch code {
        case UInt8(ascii: "a"):
            return take("{") ? try dictionary(nesting.inDictionary) : .array(try type(nesting.inArray))
        case UInt8(ascii: "?"):
            if peek() == UInt8(ascii: "?") { throw refusal("an optional of an optional") }
            return .optional(try type(nesting.inArray))
        case UInt8(ascii: "("): return .structure(try fields(nesting.inStructure))
        case UInt8(ascii: "["): return .tagged(try variants(nesting.inVariant))
        default:
            index -= 1
            throw refusal("no type begins like this")
        }
    }
    private mutating func dictionary(_ nesting: Nesting) throws(RelayError) -> WireType {
        let key = try type(nesting)
        if !key.isBasic { throw refusal("a dictionary's key must be a basic type") }
        let value = try type(nesting)
        if !take("}") { throw refusal("'}' is missing") }
        return .dictionary(key, value)
    }
    private mutating func fields(_ nesting: Nesting) throws(RelayError) -> [WireField] {
        var fields: [WireField] = []
        var names: Set<String> = []
        repeat {
            let field = try field(nesting)
            for name in [field.name] + field.formerNames where !names.insert(name).inserted {
                throw refusal("two fields named '\(name)'")
            }
            fields.append(field)
        } while take(",")
        if !take(")") { throw refusal("')' is missing") }
        return fields
    }
    private mutating func variants(_ nesting: Nesting) throws(RelayError) -> [WireVariant] {
        if nesting.isTooDeep { throw refusal("nested deeper than D-Bus allows (\(WireLimits.depth))") }
        var variants: [WireVariant] = []
        var names: Set<String> = []
        repeat {
            let name = try name("case")
            if !names.insert(name).inserted { throw refusal("two cases named '\(name)'") }
            variants.append(WireVariant(name: name, fields: take("(") ? try fields(nesting.inStructure) : []))
        } while take(",")
        if !take("]") { throw refusal("']' is missing") }
        return variants
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

/// How deep a parser is: see `WireType.depth`.
private struct Nesting {
    private var arrays = 0
    private var structures = 0
    private var all = 0

    var isTooDeep: Bool {
        arrays > WireLimits.depthOfOneKind || structures > WireLimits.depthOfOneKind || all > WireLimits.depth
    }
    var inArray: Self { with { ($0.arrays, $0.all) = (arrays + 1, all + 1) } }
    var inDictionary: Self { with { ($0.arrays, $0.all) = (arrays + 1, all + 2) } }
    var inStructure: Self { with { ($0.structures, $0.all) = (structures + 1, all + 1) } }
    /// In the variant of an enum's structure, where another signature begins.
    var inVariant: Self {
        // The structure itself is one too many.
        if structures == WireLimits.depthOfOneKind { return inStructure }
        return with { ($0.arrays, $0.structures, $0.all) = (0, 0, all + 2) }
    }
    private func with(_ change: (inout Self) -> Void) -> Self {
        var changed = self
        change(&changed)
        return changed
    }
}
