import RelayTool

/// A JSON text's value. Numbers stay as they were written: an Int64 keeps all its digits.
indirect enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order written; a key may come twice.
    case object([Member])

    struct Member: Equatable, Sendable {
        let key: String
        let value: JSONValue
    }

    /// For messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let text): text
        case .string(let text): "the text '\(text)'"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Reads JSON (RFC 8259).
///
/// Not FoundationEssentials' JSONDecoder: for a value of unknown type it gives objects as dictionaries, without the
/// order of their keys and without those that come twice; it does not distinguish `1` from `1.0`; and it makes a static
/// program larger by more than all the rest of this one.
struct JSONParser {
    /// What is wrong, and at which byte.
    struct Failure: Error, Equatable {
        let reason: String
        let offset: Int
    }
    /// D-Bus types end at 64 levels.
    private static let deepest = 128

    private let bytes: [UInt8]
    private var position = 0

    static func parse(_ text: String) throws(Failure) -> JSONValue {
        var parser = JSONParser(bytes: Array(text.utf8))
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        if parser.position < parser.bytes.count { throw parser.failure("something follows the value") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func failure(_ reason: String) -> Failure { Failure(reason: reason, offset: position) }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }
    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        if depth > Self.deepest { throw failure("nested too deeply") }
        skipSpace()
        switch next {
        case nil: throw failure("a value is missing")
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw failure("not a value") }
        position += word.utf8.count
        return value
    }

    private mutating func array(depth: Int) throws(Failure) -> [JSONValue] {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return elements }
            guard take(UInt8(ascii: ",")) else { throw failure("',' or ']' is missing") }
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> [JSONValue.Member] {
        position += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a key in quotes is missing") }
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw failure("':' is missing") }
            members.append(.init(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            if take(UInt8(ascii: "}")) { return members }
            guard take(UInt8(ascii: ",")) else { throw failure("',' or '}' is missing") }
        }
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits("not a value") }
        if take(UInt8(ascii: ".")) { try digits("a digit is missing after the point") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits("the exponent lacks its digits")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
    private mutating func digits(_ reason: String) throws(Failure) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        if position == start { throw failure(reason) }
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text.append(contentsOf: UTF8.encode(try escape()) ?? .init())
            case 0..<0x20: throw failure("a control character in a text; write it as \\u00XX")
            default: text.append(byte)
            }
        }
        throw failure("a text without its closing quote")
    }

    private mutating func escape() throws(Failure) -> Unicode.Scalar {
        guard let byte = next else { throw failure("a text without its closing quote") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try unit()
            if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
            // A surrogate: the second half must follow.
            guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                throw failure("half a surrogate pair")
            }
            let second = try unit()
            guard (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
            else { throw failure("half a surrogate pair") }
            return scalar
        default: throw failure("an unknown escape")
        }
    }
    private mutating func unit() throws(Failure) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("\\u needs four hexadecimal digits")
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}
