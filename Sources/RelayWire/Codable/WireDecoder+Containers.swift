// What a type's `init(from:)` asks for.
extension WireDecoder {
    @inline(__always) func keyedContainer<Key: CodingKey>(_ type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if top.state != .structure && top.state != .keyedPairs && top.state != .tagged { try startKeyed() }
        return lent()._withUnsafeGuaranteedRef { $0.container(type, self) }
    }
    private func startKeyed() throws {
        try openOptional()
        let node = plan.nodes[Int(top.node)]
        switch node.kind {
        case .structure: try alignAndStartStructure(node)
        case .dictionary: try startArray(.keyedPairs, alignment: 8)
        case .tagged: try startTagged(node)
        default: throw problem("it reads named fields from \(WireEncoder.name(node.kind))")
        }
        lend()
        if top.state == .keyedPairs { try collectEntries(node) }
    }
    private func startTagged(_ node: WirePlan.Node) throws {
        guard top.state == .fresh else { throw problem("it asks for containers of two kinds") }
        let start = reader.position
        guard let variant = try reader.variant(plan.enums[Int(node.first)], plan) else {
            reader.position = start
            throw try unknownCase()
        }
        (top.state, top.next) = (.tagged, variant.node)
    }
    private func unknownCase() throws -> any Error {
        try reader.align(8)
        let name = try reader.string()
        return RelayError(
            .schemaMismatch,
            "\(path) has the case \(BusNames.quoted(name)), which this program does not know: update it, or make its enum "
                + "an OpenTaggedEnum")
    }
    /// The payload of the case that is on, in a container under the case's name.
    func payload<Key: CodingKey>(_ type: Key.Type, _ name: String, _ id: UInt64) throws -> KeyedDecodingContainer<Key> {
        guard top.id == id, top.state == .tagged, top.next >= 0, variantName(top.next) == name else { throw nested(id) }
        let node = top.next
        top.next = -1
        outer.append(top)
        top = Frame(node: node, id: nextID(), start: reader.position)
        if plan.nodes[Int(node)].first < plan.nodes[Int(node)].last { try reader.align(8) }
        startStructure(plan.nodes[Int(node)])
        lend()
        return lent()._withUnsafeGuaranteedRef { $0.container(type, self) }
    }
    /// Of the case that is on, by the node of its payload.
    func variantName(_ node: Int32) -> String? {
        plan.enums[Int(plan.nodes[Int(top.node)].first)].variants.first { $0.node == node }?.name
    }
    func caseKeys<Key: CodingKey>() -> [Key] {
        variantName(top.next).flatMap { Key(stringValue: $0) }.map { [$0] } ?? []
    }
    /// The value in place of a case that the plan lacks; nil where there is none, or the type has no place for it.
    func unknownValue<T: Decodable>(_ type: T.Type, _ index: Int32) throws -> T? {
        var node = plan.nodes[Int(index)]
        let isOptional = node.kind == .optional
        if isOptional { node = plan.nodes[Int(node.first)] }
        guard node.kind == .tagged else { return nil }
        var ahead = reader
        if isOptional, try ahead.beginArray(elementAlignment: 8) == ahead.position { return nil }
        let start = ahead
        let known = plan.enums[Int(node.first)]
        if try ahead.variant(known, plan) != nil { return nil }
        guard let open = type as? any OpenTaggedEnum.Type else { return nil }
        var again = start
        try again.align(8)
        let name = try again.string()
        let value = try again.value(try again.variantType(), depth: known.depth)
        let end = again.position
        if isOptional {
            var optional = reader
            if try optional.beginArray(elementAlignment: 8) != end { throw WireFault(.optional, at: end) }
        }
        reader.position = end
        let payload = if case .structure = value { "\(value.plainText)" } else { "" }
        return open.unknown(UnknownCase(name: name, payload: payload)) as? T
    }
    @inline(__always) private func lent() -> Unmanaged<WireContainers> {
        containers.lent(top.node, top.id, of: self)
    }
    /// For the value that is on, whose id is then theirs.
    @inline(__always) private func lend() { top.id = containers.lend(top.node, of: self, else: nextID()) }
    func startUnkeyed() throws -> UInt64 {
        if top.state == .fresh {
            try openOptional()
            let node = plan.nodes[Int(top.node)]
            switch node.kind {
            case .structure: try alignAndStartStructure(node)
            case .array: try startArray(.array, alignment: Int(plan.nodes[Int(node.first)].alignment))
            case .dictionary: try startArray(.pairs, alignment: 8)
            default: throw problem("it reads a sequence from \(WireEncoder.name(node.kind))")
            }
        } else {
            // It shares their id, which must not serve another value.
            containers.own(top.node, top.id)?._withUnsafeGuaranteedRef { $0.isMixed = true }
        }
        return top.id
    }
    func startSingle() throws -> UInt64 {
        guard top.state == .fresh || top.state == .single else {
            throw problem("it asks for containers of two kinds")
        }
        top.state = .single
        return top.id
    }
    private func alignAndStartStructure(_ node: WirePlan.Node) throws {
        if !(outer.isEmpty && top.node == plan.root) { try reader.align(8) }
        startStructure(node)
    }
    func startStructure(_ node: WirePlan.Node) {
        top.state = .structure
        top.next = node.first
        top.start = reader.position
    }
    private func startArray(_ state: Frame.State, alignment: Int) throws {
        guard top.state == .fresh else { throw problem("it asks for containers of two kinds") }
        top.end = try reader.beginArray(elementAlignment: alignment)
        top.start = reader.position
        top.state = state
    }
    /// Codable reads such a dictionary by key, and asks for all keys before: they are collected, and everything is
    /// checked.
    private func collectEntries(_ node: WirePlan.Node) throws {
        var entries: [Entry] = []
        while reader.position < top.end {
            try reader.align(8)
            let key = try entryKey(node.first)
            entries.append(Entry(key: key, position: reader.position))
            try reader.skip(node.last, plan)
        }
        try reader.endArray(top.end, elements: top.start)
        lent()._withUnsafeGuaranteedRef { $0.entries = entries }
    }
    /// Of the dictionary that is on.
    var entries: [Entry] { lent()._withUnsafeGuaranteedRef { $0.entries } }
    private func entryKey(_ node: Int32) throws -> String {
        switch plan.nodes[Int(node)].kind {
        case .string: try reader.string()
        case .byte: "\(try reader.byte())"
        case .int16: "\(try reader.int16())"
        case .uint16: "\(try reader.uint16())"
        case .int32: "\(try reader.int32())"
        case .uint32: "\(try reader.uint32())"
        case .int64: "\(try reader.int64())"
        case .uint64: "\(try reader.uint64())"
        case .double: "\(try reader.double())"
        default: throw problem("it reads \(WireEncoder.name(plan.nodes[Int(node)].kind)) as a key by name")
        }
    }
    func openOptional() throws {
        let node = plan.nodes[Int(top.node)]
        guard node.kind == .optional else { return }
        top.optionalEnd = try beginOptional(node)
        top.node = node.first
    }
    func beginOptional(_ node: WirePlan.Node) throws -> Int {
        let end = try reader.beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
        if end == reader.position { throw problem("there is no value") }
        return end
    }
}
