/// What D-Bus can carry.
public indirect enum WireType: Hashable, Sendable {
    case bool, byte, int16, uint16, int32, uint32, int64, uint64, double, string
    case array(WireType)
    case dictionary(WireType, WireType)
    case structure([WireField])
    /// Travels as an array of 0 or 1.
    case optional(WireType)

    public var signature: String {
        switch self {
        case .bool: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .array(let element), .optional(let element): "a" + element.signature
        case .dictionary(let key, let value): "a{" + key.signature + value.signature + "}"
        case .structure(let fields): "(" + fields.map(\.type.signature).joined() + ")"
        }
    }
    var isBasic: Bool {
        switch self {
        case .array, .dictionary, .structure, .optional: false
        default: true
        }
    }
    /// Nested arrays and structures; D-Bus allows 32 of each.
    var depth: (arrays: Int, structures: Int) {
        switch self {
        case .array(let inner), .optional(let inner): (inner.depth.arrays + 1, inner.depth.structures)
        case .dictionary(_, let value): (value.depth.arrays + 1, value.depth.structures)
        case .structure(let fields):
            (fields.map(\.type.depth.arrays).max() ?? 0, (fields.map(\.type.depth.structures).max() ?? 0) + 1)
        default: (0, 0)
        }
    }
}

/// A named field of an event, command, reply or nested structure.
public struct WireField: Hashable, Sendable {
    public let name: String
    public let type: WireType
    /// For messages to people.
    public let swiftType: String
}

/// Why a type cannot cross processes: found at registration, never at the first publish.
public struct SchemaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    public let type: String
    /// The way to the field: `shelves[].dimensions{value}.height?`. Empty for the type itself.
    public let field: String
    public let reason: String
    public var description: String { field.isEmpty ? "\(type): \(reason)" : "\(type), field '\(field)': \(reason)" }
}

/// For a type whose `init(from:)` accepts no value that the probe knows: gives it one.
public protocol WireExample: Decodable {
    static var wireExample: Self { get }
}

/// The fields of a type and their signature, derived from its `Decodable` conformance.
public struct WireSchema: Hashable, Sendable {
    public let fields: [WireField]
    public var signature: String { fields.map(\.type.signature).joined() }

    public init<T: Codable>(of type: T.Type, allowsNoFields: Bool = false) throws {
        do throws(SchemaRefusal) {
            let probe = SchemaProbe(root: "\(type)")
            let (wire, sample) = try probe.shape(of: type, at: [])
            switch wire {
            case .structure(let fields): self.fields = fields
            default: fields = [WireField(name: "value", type: wire, swiftType: "\(type)")]
            }
            if fields.isEmpty && !allowsNoFields {
                throw probe.refusal([], "it has no fields; D-Bus has no empty structure")
            }
            try EncodeCheck.verify(sample, against: wire, probe)
            if signature.utf8.count > 255 {
                throw probe.refusal([], "its signature has \(signature.utf8.count) characters; D-Bus allows 255")
            }
        } catch {
            throw RelayError(.unsupportedType, "\(error)", cause: error)
        }
    }
    public init<E: DomainEvent>(event type: E.Type) throws {
        guard SchemaProbe.isLegal(type.name) else {
            let refusal = SchemaRefusal(
                type: "\(type)", field: "", reason: "'\(type.name)' is not a D-Bus name; give the type a static name")
            throw RelayError(.unsupportedType, "\(refusal)", cause: refusal)
        }
        try self.init(of: type, allowsNoFields: true)  // The stamp makes its signal's arguments.
        for field in fields where ["sequence", "previous", "publishedAt"].contains(field.name) {
            let refusal = SchemaRefusal(
                type: "\(type)", field: field.name,
                reason: "the name is that of an argument which every signal ends with")
            throw RelayError(.unsupportedType, "\(refusal)", cause: refusal)
        }
        if case .raw = type.ringPayload.kind { try FixedLayout.check(type) }
    }
}
