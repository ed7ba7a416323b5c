/// A valid D-Bus signature: zero or more complete types, at most 255 characters.
///
/// At most 32 arrays and 32 structures within each other, as the specification has it.
public struct Signature: Hashable, Sendable, CustomStringConvertible {
    package let text: String
    package let types: [DBusType]

    package static let empty = Signature(text: "", types: [])
    public var description: String { text }
    package var isEmpty: Bool { types.isEmpty }

    private init(text: String, types: [DBusType]) { (self.text, self.types) = (text, types) }

    /// A signature of a text.
    ///
    /// - Parameter text: the text.
    /// - Throws: `.invalidArgument` with the text and the reason.
    public init(_ text: String) throws(RelayError) {
        var copy = text
        let parsed = copy.withUTF8 { utf8 in Self.parsed(UnsafeRawBufferPointer(utf8)) }
        switch parsed {
        case .success(let types): self.init(text: text, types: types)
        case .failure(let fault):
            throw RelayError(
                .invalidArgument, "\(BusNames.quoted(text)) is no D-Bus signature: \(fault.reason)", cause: fault)
        }
    }
    package init(utf8: UnsafeRawBufferPointer) throws(SignatureFault) {
        let types = try Self.parsed(utf8).get()
        self.init(text: String(decoding: utf8, as: UTF8.self), types: types)
    }
    /// Throws `.invalidArgument` when the types together are over 255 characters or too deep.
    package init(types: [DBusType]) throws(RelayError) { try self.init(types.map(\.description).joined()) }

    private static func parsed(_ utf8: UnsafeRawBufferPointer) -> Result<[DBusType], SignatureFault> {
        Result { () throws(SignatureFault) in
            if utf8.count > WireLimits.signatureLength {
                throw SignatureFault("\(utf8.count) characters; D-Bus allows \(WireLimits.signatureLength)")
            }
            var parser = Parser(utf8: utf8)
            var types: [DBusType] = []
            while !parser.isAtEnd { types.append(try parser.completeType(arrays: 0, structures: 0)) }
            return types
        }
    }

    private struct Parser {
        let utf8: UnsafeRawBufferPointer
        var index = 0
        var isAtEnd: Bool { index == utf8.count }

        mutating func next() throws(SignatureFault) -> UInt8 {
            if isAtEnd { throw SignatureFault("it ends within a type") }
            defer { index += 1 }
            return utf8[index]
        }
        mutating func completeType(arrays: Int, structures: Int) throws(SignatureFault) -> DBusType {
            if arrays > WireLimits.depthOfOneKind || structures > WireLimits.depthOfOneKind {
                throw SignatureFault("nested deeper than D-Bus allows (\(WireLimits.depthOfOneKind))")
            }
            let code = try next()
            if let type = DBusType(code: code) { return type }
            switch code {
            case UInt8(ascii: "a"):
                if !isAtEnd, utf8[index] == UInt8(ascii: "{") {
                    index += 1
                    return try dictionary(arrays: arrays + 1, structures: structures)
                }
                return .array(try completeType(arrays: arrays + 1, structures: structures))
            case UInt8(ascii: "("):
                var fields: [DBusType] = []
                while isAtEnd || utf8[index] != UInt8(ascii: ")") {
                    fields.append(try completeType(arrays: arrays, structures: structures + 1))
                }
                index += 1
                if fields.isEmpty { throw SignatureFault("a structure without fields") }
                return .structure(fields)
            case UInt8(ascii: "{"): throw SignatureFault("a dictionary entry that is not in an array")
            default:
                let shown = BusNames.quoted(String(decoding: CollectionOfOne(code), as: UTF8.self))
                throw SignatureFault("\(shown) is no type at character \(index)")
            }
        }
        private mutating func dictionary(arrays: Int, structures: Int) throws(SignatureFault) -> DBusType {
            if arrays > WireLimits.depthOfOneKind { throw SignatureFault("nested deeper than D-Bus allows") }
            let key = try completeType(arrays: arrays, structures: structures)
            if !key.isBasic { throw SignatureFault("a dictionary's key must be a basic type, not \(key)") }
            let value = try completeType(arrays: arrays, structures: structures)
            if try next() != UInt8(ascii: "}") { throw SignatureFault("a dictionary's entry has a key and one value") }
            return .dictionary(key, value)
        }
    }
}

/// Why a text is no signature.
package struct SignatureFault: Error, Hashable, Sendable {
    package let reason: String
    init(_ reason: String) { self.reason = reason }
}
