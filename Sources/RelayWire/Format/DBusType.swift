/// One complete type of the D-Bus type system, as a signature spells it.
public indirect enum DBusType: Hashable, Sendable, CustomStringConvertible {
    /// A byte.
    case byte
    /// A truth value.
    case boolean
    /// A signed number of 16 bits.
    case int16
    /// A number of 16 bits without a sign.
    case uint16
    /// A signed number of 32 bits.
    case int32
    /// A number of 32 bits without a sign.
    case uint32
    /// A signed number of 64 bits.
    case int64
    /// A number of 64 bits without a sign.
    case uint64
    /// A floating-point number of 64 bits.
    case double
    /// A text, without NUL.
    case string
    /// The path of an object.
    case objectPath
    /// A signature.
    case signature
    /// An index into the descriptors that came with the message.
    case unixFD
    /// A value that brings its type.
    case variant
    /// Values of one type.
    case array(DBusType)
    /// Values by keys, which are of a basic type.
    case dictionary(DBusType, DBusType)
    /// Fields in their order.
    case structure([DBusType])

    /// The signature of this type.
    public var description: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .unixFD: "h"
        case .variant: "v"
        case .array(let element): "a\(element)"
        case .dictionary(let key, let value): "a{\(key)\(value)}"
        case .structure(let fields): "(\(fields.map(\.description).joined()))"
        }
    }
    package var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .boolean, .int32, .uint32, .unixFD, .string, .objectPath, .array, .dictionary: 4
        case .int64, .uint64, .double, .structure: 8
        }
    }
    package var isBasic: Bool {
        switch self {
        case .variant, .array, .dictionary, .structure: false
        default: true
        }
    }
    package var isInteger: Bool {
        switch self {
        case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: true
        default: false
        }
    }
    init?(code: UInt8) {
        switch code {
        case UInt8(ascii: "y"): self = .byte
        case UInt8(ascii: "b"): self = .boolean
        case UInt8(ascii: "n"): self = .int16
        case UInt8(ascii: "q"): self = .uint16
        case UInt8(ascii: "i"): self = .int32
        case UInt8(ascii: "u"): self = .uint32
        case UInt8(ascii: "x"): self = .int64
        case UInt8(ascii: "t"): self = .uint64
        case UInt8(ascii: "d"): self = .double
        case UInt8(ascii: "s"): self = .string
        case UInt8(ascii: "o"): self = .objectPath
        case UInt8(ascii: "g"): self = .signature
        case UInt8(ascii: "h"): self = .unixFD
        case UInt8(ascii: "v"): self = .variant
        default: return nil
        }
    }
}
