/// Reads a fixed layout's text, which may be anything.
///
/// A text is `user:f8,place:(x:i4,y:i4),cpu:u4`: names of fields, and per number its kind (`i`, `u`, `f`) and its bytes; structures
/// in parentheses. The bytes lie one after the other in this order, without padding.
struct LayoutParser {
    /// Longer texts describe nothing that a signature of 255 characters could carry.
    static let longest = 1 << 16

    private let text: String
    private let utf8: [UInt8]
    private var index = 0
    /// How to write each number, and where structures begin.
    private(set) var steps: [LayoutStep] = []

    init(_ text: String) { (self.text, utf8) = (text, Array(text.utf8.prefix(Self.longest + 1))) }

    mutating func wholeLayout() throws(RelayError) -> [WireField] {
        if utf8.count > Self.longest { throw refusal("it is longer than \(Self.longest) bytes") }
        let fields = try fields(structures: 0)
        if index != utf8.count { throw refusal("something follows it") }
        return fields
    }
    func refusal(_ reason: String) -> RelayError {
        RelayError(
            .invalidArgument, "\(BusNames.quoted(text)) is no fixed layout, at character \(index + 1): \(reason)")
    }

    private func peek() -> UInt8? { index < utf8.count ? utf8[index] : nil }
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        if peek() != UInt8(ascii: character) { return false }
        index += 1
        return true
    }
    private mutating func fields(structures: Int) throws(RelayError) -> [WireField] {
        if structures > WireLimits.depthOfOneKind {
            throw refusal("nested deeper than D-Bus allows (\(WireLimits.depthOfOneKind))")
        }
        var fields: [WireField] = []
        var names: Set<String> = []
        repeat {
            let start = index
            while let byte = peek(), byte != UInt8(ascii: ":") { index += 1 }
            let name = String(decoding: utf8[start..<index], as: UTF8.self)
            if !BusNames.isMember(name) { throw refusal("\(BusNames.quoted(name)) is no name of a field") }
            if !names.insert(name).inserted { throw refusal("two fields named '\(name)'") }
            if !take(":") { throw refusal("':' and a type are missing") }
            fields.append(WireField(name: name, type: try type(structures: structures)))
        } while take(",")
        return fields
    }
    private mutating func type(structures: Int) throws(RelayError) -> WireType {
        if take("(") {
            steps.append(.structure)
            let fields = try fields(structures: structures + 1)
            if !take(")") { throw refusal("')' is missing") }
            return .structure(fields)
        }
        guard index + 2 <= utf8.count, let (step, type) = Self.number(utf8[index], utf8[index + 1]) else {
            throw refusal("no number has this kind and size")
        }
        index += 2
        steps.append(step)
        return type
    }
    private static func number(_ kind: UInt8, _ size: UInt8) -> (LayoutStep, WireType)? {
        switch (Unicode.Scalar(kind), Unicode.Scalar(size)) {
        case ("i", "1"): (.int8, .int16)  // D-Bus has no signed byte.
        case ("i", "2"): (.int16, .int16)
        case ("i", "4"): (.int32, .int32)
        case ("i", "8"): (.int64, .int64)
        case ("u", "1"): (.uint8, .byte)
        case ("u", "2"): (.uint16, .uint16)
        case ("u", "4"): (.uint32, .uint32)
        case ("u", "8"): (.uint64, .uint64)
        case ("f", "4"): (.float, .double)  // Nor a short float.
        case ("f", "8"): (.double, .double)
        default: nil
        }
    }
}
