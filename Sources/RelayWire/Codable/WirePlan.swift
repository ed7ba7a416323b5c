/// A schema made flat, so that encoding and decoding follow it with no reference counts but its own.
final class WirePlan: Sendable {
    enum Kind: UInt8, Sendable {
        case bool, byte, int16, uint16, int32, uint32, int64, uint64, double, string
        case array, dictionary, structure, optional
    }
    struct Node: Sendable {
        let kind: Kind
        let alignment: UInt8
        /// Array and optional: the element's node. Dictionary: the key's. Structure: the first field.
        let first: Int32
        /// Dictionary: the value's node. Structure: the field behind the last.
        let last: Int32
    }
    struct Field: Sendable {
        let name: String
        let node: Int32
    }
    let nodes: [Node]
    let fields: [Field]
    /// The fields of a body: a structure that is not aligned as one.
    let root: Int32

    init(_ fields: [WireField]) {
        var builder = Builder()
        root = builder.add(.structure(fields))
        (nodes, self.fields) = (builder.nodes, builder.fields)
    }
}

/// Adds a type's parts before itself.
private struct Builder {
    typealias Kind = WirePlan.Kind
    typealias Node = WirePlan.Node
    typealias Field = WirePlan.Field
    private(set) var nodes: [Node] = []
    private(set) var fields: [Field] = []

    mutating func add(_ type: WireType) -> Int32 {
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
        case .array(let element): append(.array, 4, add(element))
        case .optional(let wrapped): append(.optional, 4, add(wrapped))
        case .dictionary(let key, let value): append(.dictionary, 4, add(key), add(value))
        case .structure(let members): addStructure(members)
        }
    }
    private mutating func addStructure(_ members: [WireField]) -> Int32 {
        // The members first: their own fields must not come between these.
        let added = members.map { Field(name: $0.name, node: add($0.type)) }
        let first = Int32(fields.count)
        fields += added
        return append(.structure, 8, first, Int32(fields.count))
    }
    private mutating func append(_ kind: Kind, _ alignment: UInt8, _ first: Int32 = 0, _ last: Int32 = 0) -> Int32 {
        nodes.append(Node(kind: kind, alignment: alignment, first: first, last: last))
        return Int32(nodes.count - 1)
    }
}
