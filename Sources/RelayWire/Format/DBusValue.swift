/// Any value that a D-Bus message can hold, for code that lacks the Swift type.
///
/// An optional field is an array of 0 or 1 elements, an enum with payloads a structure of the case's name and a variant:
/// see PROTOCOL.md, "Types".
public enum DBusValue: Hashable, Sendable {
    /// A byte.
    case byte(UInt8)
    /// A truth value.
    case boolean(Bool)
    /// A signed number of 16 bits.
    case int16(Int16)
    /// A number of 16 bits without a sign.
    case uint16(UInt16)
    /// A signed number of 32 bits.
    case int32(Int32)
    /// A number of 32 bits without a sign.
    case uint32(UInt32)
    /// A signed number of 64 bits.
    case int64(Int64)
    /// A number of 64 bits without a sign.
    case uint64(UInt64)
    /// A floating-point number of 64 bits.
    case double(Double)
    /// A text, without NUL.
    case string(String)
    /// The path of an object.
    case objectPath(String)
    /// A signature.
    case signature(Signature)
    /// An index into the descriptors that came with the message.
    case unixFD(UInt32)
    /// `ay`, which decoding always gives for it: 24 bytes a byte would be waste.
    case bytes([UInt8])
    /// The elements' type, which an empty array needs, and the elements.
    case array(DBusType, [DBusValue])
    /// Of a `DBusType.dictionary`; in the order of the message, equal keys included.
    case dictionary(DBusType, [Entry])
    /// The fields of a structure, in their order.
    case structure([DBusValue])
    /// A value that brings its type.
    indirect case variant(DBusValue)

    /// One entry of a dictionary.
    public struct Entry: Hashable, Sendable {
        /// The key, which is of a basic type.
        public let key: DBusValue
        /// The value.
        public let value: DBusValue
        /// An entry.
        ///
        /// - Parameter key: the key.
        /// - Parameter value: the value.
        public init(key: DBusValue, value: DBusValue) { (self.key, self.value) = (key, value) }
    }

    /// The value's type.
    public var type: DBusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .unixFD: .unixFD
        case .bytes: .array(.byte)
        case .array(let element, _): .array(element)
        case .dictionary(let type, _): type
        case .structure(let fields): .structure(fields.map(\.type))
        case .variant: .variant
        }
    }
    /// The signature of a body with these arguments. Throws `.invalidArgument` if there is none.
    package static func signature(of values: [DBusValue]) throws(RelayError) -> Signature {
        try Signature(types: values.map(\.type))
    }
    /// Reads a whole body. Accepts what libdbus accepts; throws `.invalidArgument` with the byte and the reason
    /// otherwise.
    ///
    /// Takes at most a small constant times the body's memory, for which more containers than a body of half as many
    /// bytes could hold (and 1,024) are refused too.
    package static func decode(signature: Signature, body: UnsafeRawBufferPointer) throws(RelayError) -> [DBusValue] {
        do throws(WireFault) {
            var reader = WireReader(body)
            var values: [DBusValue] = []
            for type in signature.types { values.append(try reader.value(type)) }
            try reader.finish()
            return values
        } catch { throw error.relayError("a body of the signature '\(signature)'") }
    }
    package static func decode(signature: Signature, body: [UInt8]) throws(RelayError) -> [DBusValue] {
        let result = body.withUnsafeBytes { bytes in
            Result { () throws(RelayError) in try decode(signature: signature, body: bytes) }
        }
        return try result.get()
    }
    /// Appends the values as arguments of a body. On an error the writer is as before.
    ///
    /// Throws `.invalidArgument` for elements of another type than their array's, a bad path or string, too deep
    /// nesting.
    package static func body(_ values: [DBusValue]) throws(RelayError) -> [UInt8] {
        var writer = WireWriter()
        try encode(values, into: &writer)
        return writer.takeBytes()
    }
    /// The same, behind what is written already.
    package static func encode(_ values: [DBusValue], into writer: inout WireWriter) throws(RelayError) {
        let mark = writer.count
        do throws(RelayError) {
            for value in values { try writer.value(value, as: value.type) }
        } catch {
            writer.truncate(to: mark)
            throw error
        }
    }
}
