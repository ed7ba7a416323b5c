import RelayCore

/// Reads the annotation `org.eventrelay.Fields`: a signature's grammar, with `?shape` for an optional, and with names in
/// structures, `(name:shape,name:shape)`. It comes from the other side: nothing in it is taken for granted.
struct ShapeParser {
    private static let longest = 16_384

    private let bytes: [UInt8]
    private var position = 0
    private var arrays = 0
    private var structures = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The one shape of an annotation; nil if it is none.
    static func shape(_ annotation: String) -> Shape? {
        guard annotation.utf8.count <= longest else { return nil }
        var parser = ShapeParser(annotation)
        guard let shape = parser.shape(), parser.position == parser.bytes.count else { return nil }
        return shape
    }

    private mutating func take() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }
    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func shape() -> Shape? {
        switch take() {
        case nil: return nil
        case UInt8(ascii: "v"): return .variant
        case UInt8(ascii: "a"):
            return nested(\.arrays) { parser in
                if parser.take(UInt8(ascii: "{")) { return parser.dictionary() }
                return parser.shape().map { .array($0) }
            }
        case UInt8(ascii: "?"):
            return nested(\.arrays) { parser in parser.shape().map { .optional($0) } }
        case UInt8(ascii: "("):
            return nested(\.structures) { $0.structure() }
        case let code?:
            return Self.basic(code).map { .basic($0) }
        }
    }

    private mutating func nested(
        _ depth: WritableKeyPath<ShapeParser, Int>, _ body: (inout ShapeParser) -> Shape?
    ) -> Shape? {
        guard self[keyPath: depth] < WireLimits.depthOfOneKind else { return nil }
        self[keyPath: depth] += 1
        defer { self[keyPath: depth] -= 1 }
        return body(&self)
    }

    private mutating func dictionary() -> Shape? {
        guard let key = take().flatMap(Self.basic), let value = shape(), take(UInt8(ascii: "}")) else { return nil }
        return .dictionary(key, value)
    }

    private mutating func structure() -> Shape? {
        var members: [Shape.Member] = []
        while !take(UInt8(ascii: ")")) {
            if !members.isEmpty && !take(UInt8(ascii: ",")) { return nil }
            guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ":")), end > position else { return nil }
            let name = String(decoding: bytes[position..<end], as: UTF8.self)
            position = end + 1
            guard let shape = shape() else { return nil }
            members.append(.init(name: name, shape: shape))
        }
        return members.isEmpty ? nil : .structure(members)  // D-Bus has no empty structure.
    }

    private static func basic(_ code: UInt8) -> DBusType? {
        guard let type = try? Signature(String(UnicodeScalar(code))).types.first, type.isBasic else { return nil }
        return type
    }
}
