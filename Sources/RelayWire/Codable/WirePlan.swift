/// A schema made flat, so that encoding and decoding follow it with no reference counts but its own.
package final class WirePlan: @unchecked Sendable {  // Immutable.
    enum Kind: UInt8, Sendable {
        case bool, byte, int16, uint16, int32, uint32, int64, uint64, double, string
        case array, dictionary, structure, optional, tagged
    }
    struct Node: Sendable {
        let kind: Kind
        let alignment: UInt8
        /// The largest alignment in it.
        let widest: UInt8
        /// Array and optional: the element's node. Dictionary: the key's. Structure: the first field. Tagged: its place
        /// among the enums.
        let first: Int32
        /// Dictionary: the value's node. Structure: the field behind the last.
        let last: Int32
    }
    struct Field: Sendable {
        let name: String
        let node: Int32
    }
    /// An enum with payloads.
    struct Enum: Sendable {
        let variants: [Variant]
        /// Containers around what a variant holds, as libdbus counts them.
        let depth: Int

        func variant(_ name: UnsafeRawBufferPointer) -> Variant? { variants.first { name.elementsEqual($0.utf8) } }
        func variant(_ name: String) -> Variant? { variants.first { $0.name == name } }
    }
    struct Variant: Sendable {
        let name: String
        /// The name's.
        let utf8: [UInt8]
        /// Of what its variant holds.
        let signature: Signature
        /// A structure; one without fields where there is no payload.
        let node: Int32
        let hasPayload: Bool
    }
    // No arrays: each value looks into these many times, by indices that are the plan's own.
    let nodes: UnsafeMutableBufferPointer<Node>
    let fields: UnsafeMutableBufferPointer<Field>
    let enums: [Enum]
    /// The fields of a body: a structure that is not aligned as one.
    let root: Int32
    /// Some values travel as those of another type: see `WireRepresented`.
    let hasForeign: Bool

    init(_ fields: [WireField]) {
        var builder = Builder()
        hasForeign = fields.contains { $0.hasForeign }
        root = builder.add(.structure(fields), 0)
        (nodes, self.fields) = (.allocate(capacity: builder.nodes.count), .allocate(capacity: builder.fields.count))
        _ = nodes.initialize(fromContentsOf: builder.nodes)
        _ = self.fields.initialize(fromContentsOf: builder.fields)
        enums = builder.enums
    }
    deinit {
        nodes.deallocate()
        fields.deinitialize().deallocate()
    }
}

/// Adds a type's parts before itself.
private struct Builder {
    typealias Kind = WirePlan.Kind
    typealias Node = WirePlan.Node
    typealias Field = WirePlan.Field
    private(set) var nodes: [Node] = []
    private(set) var fields: [Field] = []
    private(set) var enums: [WirePlan.Enum] = []

    mutating func add(_ type: WireType, _ depth: Int) -> Int32 {
        switch type {
        case .bool: append(.bool, 4)
        case .byte: append(.byte, 1)
        case .int16: append(.int16, 2)
        case .uint16: append(.uint16, 2)
        case .int32: append(.int32, 4)
        case .uint32, .descriptor: append(.uint32, 4)
        case .int64: append(.int64, 8)
        case .uint64: append(.uint64, 8)
        case .double: append(.double, 8)
        case .string: append(.string, 4)
        case .array(let element): append(.array, 4, add(element, depth + 1))
        case .optional(let wrapped): append(.optional, 4, add(wrapped, depth + 1))
        case .dictionary(let key, let value): append(.dictionary, 4, add(key, depth + 2), add(value, depth + 2))
        case .structure(let members): addStructure(members, depth + 1)
        case .tagged(let variants): addEnum(variants, depth + 2)
        }
    }
    private mutating func addStructure(_ members: [WireField], _ depth: Int) -> Int32 {
        // The members first: their own fields must not come between these.
        let added = members.map { Field(name: $0.name, node: add($0.type, depth)) }
        let first = Int32(fields.count)
        fields += added
        return append(.structure, 8, first, Int32(fields.count))
    }
    private mutating func addEnum(_ variants: [WireVariant], _ depth: Int) -> Int32 {
        let added = variants.map { variant in
            WirePlan.Variant(
                name: variant.name, utf8: Array(variant.name.utf8),
                // The schema was checked: each payload has one.
                signature: (try? Signature(variant.signature)) ?? .empty, node: addStructure(variant.fields, depth + 1),
                hasPayload: !variant.fields.isEmpty)
        }
        enums.append(WirePlan.Enum(variants: added, depth: depth))
        return append(.tagged, 8, Int32(enums.count - 1))
    }
    private mutating func append(_ kind: Kind, _ alignment: UInt8, _ first: Int32 = 0, _ last: Int32 = 0) -> Int32 {
        let widest: UInt8 =
            switch kind {
            case .array, .optional: max(4, nodes[Int(first)].widest)
            case .dictionary: 8
            default: alignment
            }
        nodes.append(Node(kind: kind, alignment: alignment, widest: widest, first: first, last: last))
        return Int32(nodes.count - 1)
    }
}
