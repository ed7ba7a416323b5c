import RelayCore
package import RelayWire

/// A D-Bus type with what its signature does not show: the names of nested fields, and which arrays are optionals.
package indirect enum Shape: Hashable, Sendable {
    /// One without parts.
    case basic(DBusType)
    /// An integer or a text whose values have names.
    case named(DBusType, [WireCase])
    case variant
    case array(Shape)
    /// Travels as an array of 0 or 1.
    case optional(Shape)
    case dictionary(DBusType, Shape)
    case structure([Member])
    /// An enum with payloads: a structure of the case's name and a variant.
    case tagged([Case])

    package struct Case: Hashable, Sendable {
        package let name: String
        /// Of its payload; a byte stands for none.
        package let members: [Member]

        package init(name: String, members: [Member]) { (self.name, self.members) = (name, members) }
        /// What its variant holds.
        package var payload: DBusType { members.isEmpty ? .byte : Shape.structure(members).type }
    }
    package struct Member: Hashable, Sendable {
        /// nil where only the signature is known.
        package let name: String?
        package let shape: Shape

        package init(name: String?, shape: Shape) { (self.name, self.shape) = (name, shape) }
    }

    /// As far as the signature shows.
    package init(_ type: DBusType) {
        self =
            switch type {
            case .variant: .variant
            case .array(let element): .array(Shape(element))
            case .dictionary(let key, let value): .dictionary(key, Shape(value))
            case .structure(let fields): .structure(fields.map { Member(name: nil, shape: Shape($0)) })
            default: .basic(type)
            }
    }

    /// With all that a schema shows.
    package init(_ type: WireType) {
        self =
            switch type {
            case .bool: .basic(.boolean)
            case .byte: .basic(.byte)
            case .int16: .basic(.int16)
            case .uint16: .basic(.uint16)
            case .int32: .basic(.int32)
            case .uint32: .basic(.uint32)
            case .int64: .basic(.int64)
            case .uint64: .basic(.uint64)
            case .double: .basic(.double)
            case .string: .basic(.string)
            case .descriptor: .basic(.unixFD)
            case .array(let element): .array(Shape(element))
            case .optional(let wrapped): .optional(Shape(wrapped))
            case .dictionary(let key, let value): .dictionary(Shape(key).type, Shape(value))
            case .structure(let fields): .structure(Self.members(fields))
            case .tagged(let variants):
                .tagged(variants.map { Case(name: $0.name, members: Self.members($0.fields)) })
            }
    }
    private static func members(_ fields: [WireField]) -> [Member] {
        fields.map { Member(name: $0.name, shape: Shape($0.type)) }
    }
    /// The value of the annotation `org.eventrelay.Fields`; nil without one.
    package init?(annotation: String) {
        guard let field = try? WireField(parsing: "field:" + annotation) else { return nil }
        self.init(field.type)
    }

    package var type: DBusType {
        switch self {
        case .basic(let type), .named(let type, _): type
        case .variant: .variant
        case .array(let element), .optional(let element): .array(element.type)
        case .dictionary(let key, let value): .dictionary(key, value.type)
        case .structure(let members): .structure(members.map(\.shape.type))
        case .tagged: .structure([.string, .variant])
        }
    }
    package var signature: String { type.description }

    /// What the wire format aligns a value to.
    package var alignment: Int {
        switch self {
        case .basic(let type), .named(let type, _): type.alignment
        case .variant: 1
        case .array, .optional, .dictionary: 4
        case .structure, .tagged: 8
        }
    }

    /// For people: `[(width: double, height: double?)]`.
    package var text: String {
        switch self {
        case .basic(let type): type.name
        case .named(_, let cases): cases.map(\.name).joined(separator: " | ")
        case .variant: "variant"
        case .array(let element): "[" + element.text + "]"
        case .optional(.named(let type, let cases)): "(" + Shape.named(type, cases).text + ")?"
        case .optional(.tagged(let cases)): "(" + Shape.tagged(cases).text + ")?"
        case .optional(let wrapped): wrapped.text + "?"
        case .dictionary(let key, let value): "[" + key.name + ": " + value.text + "]"
        case .structure(let members): Self.text(members)
        case .tagged(let cases):
            cases.map { $0.name + ($0.members.isEmpty ? "" : Self.text($0.members)) }.joined(separator: " | ")
        }
    }
    private static func text(_ members: [Member]) -> String {
        "("
            + members.map { member in (member.name.map { $0 + ": " } ?? "") + member.shape.text }
            .joined(separator: ", ") + ")"
    }
}

extension Shape {
    /// The same without names: what JSON for programs has, and what signatures are compared by.
    package var unnamed: Shape {
        switch self {
        case .named(let type, _): .basic(type)
        case .array(let element): .array(element.unnamed)
        case .optional(let wrapped): .optional(wrapped.unnamed)
        case .dictionary(let key, let value): .dictionary(key, value.unnamed)
        case .structure(let members): .structure(members.map { Member(name: $0.name, shape: $0.shape.unnamed) })
        case .tagged(let cases):
            .tagged(
                cases.map { variant in
                    Case(
                        name: variant.name,
                        members: variant.members.map { Member(name: $0.name, shape: $0.shape.unnamed) })
                })
        case .basic, .variant: self
        }
    }
    /// The names of the values: nil for a shape without.
    package var cases: [WireCase]? {
        switch self {
        case .named(_, let cases): cases
        case .array(let inner), .optional(let inner), .dictionary(_, let inner): inner.cases
        case .basic, .variant, .structure, .tagged: nil
        }
    }
    /// With names for the values at the end of a way through structures. The same where the way leads to nothing that could have them.
    package func naming(_ cases: [WireCase], at path: ArraySlice<String>) -> Shape {
        switch self {
        case .basic(let type) where path.isEmpty && type.canHaveNames(cases): .named(type, cases)
        case .array(let element): .array(element.naming(cases, at: path))
        case .optional(let wrapped): .optional(wrapped.naming(cases, at: path))
        case .dictionary(let key, let value): .dictionary(key, value.naming(cases, at: path))
        case .structure(let members): .structure(Self.naming(members, cases, at: path))
        case .tagged(let all):
            .tagged(
                all.map { variant in
                    guard let first = path.first, variant.name == first else { return variant }
                    return Case(
                        name: first, members: Self.naming(variant.members, cases, at: path.dropFirst()))
                })
        case .basic, .named, .variant: self
        }
    }
    private static func naming(_ members: [Member], _ cases: [WireCase], at path: ArraySlice<String>) -> [Member] {
        members.map { member in
            guard let first = path.first, member.name == first else { return member }
            return Member(name: member.name, shape: member.shape.naming(cases, at: path.dropFirst()))
        }
    }
}

extension DBusType {
    /// Whether the values of this type can be those of the cases.
    fileprivate func canHaveNames(_ cases: [WireCase]) -> Bool {
        let areTexts = cases.allSatisfy { if case .text = $0.raw { true } else { false } }
        let areIntegers = cases.allSatisfy { if case .text = $0.raw { false } else { true } }
        return switch self {
        case .string: areTexts && !cases.isEmpty
        case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: areIntegers && !cases.isEmpty
        default: false
        }
    }
    /// For people; a basic type's.
    package var name: String {
        switch self {
        case .byte: "byte"
        case .boolean: "bool"
        case .int16: "int16"
        case .uint16: "uint16"
        case .int32: "int32"
        case .uint32: "uint32"
        case .int64: "int64"
        case .uint64: "uint64"
        case .double: "double"
        case .string: "string"
        case .objectPath: "path"
        case .signature: "signature"
        case .unixFD: "fd"
        default: description
        }
    }
}
