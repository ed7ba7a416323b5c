/// Reads a fixed layout's text, which may be anything.
///
/// A text is `user:f8,place:(x:i4,y:i4),cpu:u4,samples:u8*508`: names of fields, and per number its kind (`i`, `u`,
/// `f`) and its bytes; how many they are where it is an array; structures in parentheses. The bytes lie one after the
/// other in this order, without padding.
struct LayoutParser {
    /// Longer texts describe nothing that a signature of 255 characters could carry.
    static let longest = 1 << 16

    private let text: String
    private let utf8: [UInt8]
    private var index = 0
    /// How to write the numbers, and where structures begin.
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
        guard index + 2 <= utf8.count, let number = LayoutNumber(utf8[index], utf8[index + 1]) else {
            throw refusal("no number has this kind and size")
        }
        index += 2
        guard take("*") else {
            steps.append(.number(number))
            return number.type
        }
        steps.append(.array(number, count: try count(of: number)))
        return .array(number.type)
    }
    /// How many elements an array has: no more than D-Bus allows, so that no sum of sizes can overflow.
    private mutating func count(of number: LayoutNumber) throws(RelayError) -> Int {
        var count = 0
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            count = 10 * count + Int(byte - UInt8(ascii: "0"))
            if count == 0 { throw refusal("a number of elements begins with 1 to 9") }
            if count * number.wireSize > WireLimits.arrayLength {
                throw refusal("D-Bus allows \(WireLimits.arrayLength) bytes for an array")
            }
            index += 1
        }
        if count == 0 { throw refusal("the number of elements is missing") }
        return count
    }
}

/// What comes next in a fixed layout.
enum LayoutStep: Sendable {
    case number(LayoutNumber)
    /// Numbers of one kind one after the other; an array on the wire.
    case array(LayoutNumber, count: Int)
    /// A structure begins: no bytes, but an alignment on the wire.
    case structure

    /// Bytes in memory.
    var size: Int {
        switch self {
        case .structure: 0
        case .number(let number): number.size
        case .array(let number, let count): number.size * count
        }
    }
    /// Bytes on the wire, without what aligns them.
    var wireSize: Int {
        switch self {
        case .structure: 0
        case .number(let number): number.wireSize
        case .array(let number, let count): number.wireSize * count
        }
    }
}
