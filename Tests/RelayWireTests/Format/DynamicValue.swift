@testable import RelayWire

/// A value of any schema that goes through `Codable` as a synthesised type of that schema would.
struct DynamicValue: Codable {
    /// What `init(from:)` reads: it has no other way to know.
    @TaskLocal static var type: WireType = .structure([])

    let type: WireType
    let value: DBusValue

    init(_ type: WireType, _ value: DBusValue) { (self.type, self.value) = (type, value) }

    struct Name: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, Int(stringValue)) }
        init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
    }
    struct Unfit: Error {}

    // MARK: Encoding

    func encode(to encoder: any Encoder) throws {
        switch (type, value) {
        case (.structure(let fields), .structure(let values)):
            var container = encoder.container(keyedBy: Name.self)
            for (field, value) in zip(fields, values) { try Self.encode(field, value, &container) }
        case (.tagged(let variants), .structure(let parts)):
            guard parts.count == 2, case .string(let name) = parts[0], case .variant(let payload) = parts[1],
                let fields = variants.first(where: { $0.name == name })?.fields
            else { throw Unfit() }
            var container = encoder.container(keyedBy: Name.self)
            var nested = container.nestedContainer(keyedBy: Name.self, forKey: Name(stringValue: name))
            if case .structure(let values) = payload {
                for (field, value) in zip(fields, values) { try Self.encode(field, value, &nested) }
            }
        case (.optional(let wrapped), .array(_, let values)):
            var container = encoder.singleValueContainer()
            if let value = values.first {
                try container.encode(Self(wrapped, value))
            } else {
                try container.encodeNil()
            }
        case (.optional, .bytes(let bytes)):
            var container = encoder.singleValueContainer()
            if let byte = bytes.first { try container.encode(byte) } else { try container.encodeNil() }
        case (.array(.byte), .bytes(let bytes)):
            var container = encoder.unkeyedContainer()
            for byte in bytes { try container.encode(byte) }
        case (.array(let element), .array(_, let values)):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(Self(element, value)) }
        case (.dictionary(let key, let element), .dictionary(_, let entries)):
            try Self.encode(entries, key, element, encoder)
        default:
            var container = encoder.singleValueContainer()
            try Self.encode(value, &container)
        }
    }
    /// Basic fields directly and nil left out, as synthesised code does.
    private static func encode(
        _ field: WireField, _ value: DBusValue, _ container: inout KeyedEncodingContainer<Name>
    ) throws {
        let key = Name(stringValue: field.name)
        switch (field.type, value) {
        case (.optional(let wrapped), .array(_, let values)):
            if let value = values.first { try container.encode(Self(wrapped, value), forKey: key) }
        case (.optional, .bytes(let bytes)): try container.encodeIfPresent(bytes.first, forKey: key)
        case (_, .boolean(let value)): try container.encode(value, forKey: key)
        case (_, .int64(let value)): try container.encode(value, forKey: key)
        case (_, .uint16(let value)): try container.encode(value, forKey: key)
        case (_, .double(let value)): try container.encode(value, forKey: key)
        case (_, .string(let value)): try container.encode(value, forKey: key)
        default: try container.encode(Self(field.type, value), forKey: key)
        }
    }
    /// String and Int keys by name, others in turn with the values, as `Dictionary` does.
    private static func encode(
        _ entries: [DBusValue.Entry], _ key: WireType, _ element: WireType, _ encoder: any Encoder
    ) throws {
        switch key {
        case .string, .int64:
            var container = encoder.container(keyedBy: Name.self)
            for entry in entries {
                switch entry.key {
                case .string(let name):
                    try container.encode(Self(element, entry.value), forKey: Name(stringValue: name))
                case .int64(let number):
                    try container.encode(Self(element, entry.value), forKey: Name(intValue: Int(number)))
                default: throw Unfit()
                }
            }
        default:
            var container = encoder.unkeyedContainer()
            for entry in entries {
                try container.encode(Self(key, entry.key))
                try container.encode(Self(element, entry.value))
            }
        }
    }
    private static func encode(_ value: DBusValue, _ container: inout any SingleValueEncodingContainer) throws {
        switch value {
        case .byte(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .int16(let value): try container.encode(value)
        case .uint16(let value): try container.encode(value)
        case .int32(let value): try container.encode(value)
        case .uint32(let value): try container.encode(value)
        case .int64(let value): try container.encode(value)
        case .uint64(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        default: throw Unfit()
        }
    }

    // MARK: Decoding

    init(from decoder: any Decoder) throws {
        let type = Self.type
        self.init(type, try Self.value(type, decoder))
    }
    private static func value(_ type: WireType, _ decoder: any Decoder) throws -> DBusValue {
        switch type {
        case .structure(let fields):
            let container = try decoder.container(keyedBy: Name.self)
            return .structure(try fields.map { try field($0, container) })
        case .tagged(let variants):
            let container = try decoder.container(keyedBy: Name.self)
            guard let key = container.allKeys.first, container.allKeys.count == 1,
                let fields = variants.first(where: { $0.name == key.stringValue })?.fields
            else { throw Unfit() }
            let nested = try container.nestedContainer(keyedBy: Name.self, forKey: key)
            let payload = try fields.map { try field($0, nested) }
            return .structure([
                .string(key.stringValue), .variant(payload.isEmpty ? .byte(0) : .structure(payload)),
            ])
        case .optional(let wrapped):
            let container = try decoder.singleValueContainer()
            let values = container.decodeNil() ? [] : [try of(wrapped) { try container.decode(Self.self) }]
            return try array(wrapped, values)
        case .array(let element):
            var container = try decoder.unkeyedContainer()
            var values: [DBusValue] = []
            while !container.isAtEnd { values.append(try of(element) { try container.decode(Self.self) }) }
            return try array(element, values)
        case .dictionary(.string, let element), .dictionary(.int64, let element):
            let container = try decoder.container(keyedBy: Name.self)
            var entries: [DBusValue.Entry] = []
            for key in container.allKeys {
                let value = try of(element) { try container.decode(Self.self, forKey: key) }
                let isNumber = type.signature.hasPrefix("a{x")
                guard !isNumber || key.intValue != nil else { throw Unfit() }
                entries.append(
                    .init(key: isNumber ? .int64(Int64(key.intValue ?? 0)) : .string(key.stringValue), value: value))
            }
            return .dictionary(try type.dbus, entries)
        case .dictionary(let key, let element):
            var container = try decoder.unkeyedContainer()
            var entries: [DBusValue.Entry] = []
            while !container.isAtEnd {
                let key = try of(key) { try container.decode(Self.self) }
                entries.append(.init(key: key, value: try of(element) { try container.decode(Self.self) }))
            }
            return .dictionary(try type.dbus, entries)
        default: return try basic(type, try decoder.singleValueContainer())
        }
    }
    private static func field(_ field: WireField, _ container: KeyedDecodingContainer<Name>) throws -> DBusValue {
        let key = Name(stringValue: field.name)
        switch field.type {
        case .optional(let wrapped):
            let value = try $type.withValue(wrapped) { try container.decodeIfPresent(Self.self, forKey: key) }
            return try array(wrapped, value.map { [$0.value] } ?? [])
        case .bool: return .boolean(try container.decode(Bool.self, forKey: key))
        case .int64: return .int64(try container.decode(Int64.self, forKey: key))
        case .uint16: return .uint16(try container.decode(UInt16.self, forKey: key))
        case .double: return .double(try container.decode(Double.self, forKey: key))
        case .string: return .string(try container.decode(String.self, forKey: key))
        default: return try of(field.type) { try container.decode(Self.self, forKey: key) }
        }
    }
    private static func of(_ type: WireType, _ decode: () throws -> Self) throws -> DBusValue {
        try $type.withValue(type) { try decode().value }
    }
    private static func array(_ element: WireType, _ values: [DBusValue]) throws -> DBusValue {
        if element == .byte {
            return .bytes(values.compactMap { if case .byte(let byte) = $0 { byte } else { nil } })
        }
        return .array(try element.dbus, values)
    }
    private static func basic(_ type: WireType, _ container: any SingleValueDecodingContainer) throws -> DBusValue {
        switch type {
        case .bool: .boolean(try container.decode(Bool.self))
        case .byte: .byte(try container.decode(UInt8.self))
        case .int16: .int16(try container.decode(Int16.self))
        case .uint16: .uint16(try container.decode(UInt16.self))
        case .int32: .int32(try container.decode(Int32.self))
        case .uint32: .uint32(try container.decode(UInt32.self))
        case .int64: .int64(try container.decode(Int64.self))
        case .uint64: .uint64(try container.decode(UInt64.self))
        case .double: .double(try container.decode(Double.self))
        case .string: .string(try container.decode(String.self))
        default: throw Unfit()
        }
    }
}
