// Where the next value is.
extension WireDecoder {
    /// The node of a field, with the reader at its value.
    func field(_ name: String, _ id: UInt64) throws -> Int32 {
        if top.id == id, top.state == .structure, Int(top.next) < plan.fields.count {
            let field = plan.fields[Int(top.next)]
            if field.name == name, top.next < plan.nodes[Int(top.node)].last {
                top.next += 1
                return field.node
            }
        }
        return try otherField(name, id)
    }
    @inline(never) private func otherField(_ name: String, _ id: UInt64) throws -> Int32 {
        try checkTurn(id)
        if top.state == .keyedPairs { return try entry(name) }
        guard let index = index(of: name) else { throw problem("it reads '\(name)', which the sender does not send") }
        try seek(index)
        top.next += 1
        return plan.fields[Int(index)].node
    }
    private func index(of name: String) -> Int32? {
        guard top.state == .structure else { return nil }
        let node = plan.nodes[Int(top.node)]
        // What is read in order is next.
        if top.next < node.last, plan.fields[Int(top.next)].name == name { return top.next }
        return (node.first..<node.last).first { plan.fields[Int($0)].name == name }
    }
    /// Moves to a field: past others, or back to the first and past others.
    private func seek(_ index: Int32) throws {
        if index < top.next {
            reader.position = top.start
            top.next = plan.nodes[Int(top.node)].first
        }
        while top.next < index {
            try reader.skip(plan.fields[Int(top.next)].node, plan)
            top.next += 1
        }
    }
    private func entry(_ key: String) throws -> Int32 {
        let isNext = Int(top.next) < entries.count && entries[Int(top.next)].key == key
        guard let index = isNext ? Int(top.next) : entries.firstIndex(where: { $0.key == key }) else {
            throw problem("it reads the key \(BusNames.quoted(key)), which is not there")
        }
        reader.position = entries[index].position
        top.next = Int32(index + 1)
        return plan.nodes[Int(top.node)].last
    }
    func keys<Key: CodingKey>(_ id: UInt64) -> [Key] {
        guard top.id == id else { return [] }
        if top.state == .tagged { return caseKeys() }
        if top.state == .structure {
            let node = plan.nodes[Int(top.node)]
            return plan.fields[Int(node.first)..<Int(node.last)].compactMap { Key(stringValue: $0.name) }
        }
        let isNumber = plan.nodes[Int(plan.nodes[Int(top.node)].first)].kind != .string
        return entries.compactMap { entry in
            if isNumber, let number = Int(entry.key), let key = Key(intValue: number) { return key }
            return Key(stringValue: entry.key)
        }
    }
    func contains(_ name: String, _ id: UInt64) -> Bool {
        guard top.id == id else { return false }
        if top.state == .keyedPairs { return entries.contains { $0.key == name } }
        if top.state == .tagged { return variantName(top.next) == name }
        guard let index = index(of: name) else { return false }
        guard plan.nodes[Int(plan.fields[Int(index)].node)].kind == .optional else { return true }
        // A field that cannot be reached is reported when it is read.
        return (try? isNil(name, id)) != true
    }
    /// Whether a field is absent or an empty optional; it stays unread.
    func isNil(_ name: String, _ id: UInt64) throws -> Bool {
        try checkTurn(id)
        if top.state == .keyedPairs {
            guard entries.contains(where: { $0.key == name }) else { return true }
            let node = try entry(name)
            top.next -= 1
            return try isEmptyOptional(node)
        }
        guard let index = index(of: name) else { return true }
        try seek(index)
        return try isEmptyOptional(plan.fields[Int(index)].node)
    }
    /// As `isNil`, and reads an empty optional to its end.
    func passNil(_ name: String, _ id: UInt64) throws -> Bool {
        guard try isNil(name, id) else { return false }
        if top.state == .structure, let index = index(of: name) { try seek(index + 1) }
        return true
    }
    /// As `passNil`, of the field that is next.
    func passNextNil() throws -> Bool {
        let node = plan.nodes[Int(plan.fields[Int(top.next)].node)]
        guard node.kind == .optional else { return false }
        var ahead = reader
        if try ahead.uint32() != 0 { return false }
        try ahead.align(Int(plan.nodes[Int(node.first)].alignment))
        reader.position = ahead.position
        top.next += 1
        return true
    }
    /// Whether a field of the structure that is on has this name.
    func isField(_ index: Int32, _ name: String) -> Bool {
        guard top.state == .structure else { return false }
        let node = plan.nodes[Int(top.node)]
        return node.first <= index && index < node.last && plan.fields[Int(index)].name == name
    }
    private func isEmptyOptional(_ node: Int32) throws -> Bool {
        guard plan.nodes[Int(node)].kind == .optional else { return false }
        let position = reader.position
        defer { reader.position = position }
        return try reader.uint32() == 0
    }
    /// Whether the value that `singleValueContainer` stands for is an empty optional.
    func isNil(_ id: UInt64) -> Bool {
        guard top.id == id, top.state == .single, top.next == 0 else { return false }
        return (try? isEmptyOptional(top.node)) ?? false
    }
    /// The node of the next value without a name.
    func element(_ id: UInt64) throws -> Int32 {
        try checkTurn(id)
        let node = plan.nodes[Int(top.node)]
        switch top.state {
        case .array:
            if reader.position >= top.end { throw problem("it reads past the end of an array") }
            top.next += 1
            return node.first
        case .pairs:
            if top.next & 1 == 0 {
                if reader.position >= top.end { throw problem("it reads past the end of a dictionary") }
                try reader.align(8)
            }
            top.next += 1
            return top.next & 1 == 1 ? node.first : node.last
        case .structure:
            guard top.next < node.last else { throw problem("it reads more values than the structure has") }
            top.next += 1
            return plan.fields[Int(top.next) - 1].node
        case .single:
            guard top.next == 0 else { throw problem("it reads two values where one is") }
            top.next = 1
            return top.node
        case .fresh, .keyedPairs, .tagged: throw problem("it reads a value without asking for its container")
        }
    }
    /// As `passNil`, for the next value without a name.
    func passNilElement(_ id: UInt64) throws -> Bool {
        let (before, position) = (top.next, reader.position)
        let node = try element(id)
        if try isEmptyOptional(node) {
            try reader.skip(node, plan)
            return true
        }
        (top.next, reader.position) = (before, position)
        return false
    }
    func isAtEnd(_ id: UInt64) -> Bool {
        guard top.id == id else { return true }
        return switch top.state {
        case .array: reader.position >= top.end
        case .pairs: reader.position >= top.end && top.next & 1 == 0
        case .structure: top.next >= plan.nodes[Int(top.node)].last
        default: true
        }
    }
    func index(_ id: UInt64) -> Int {
        guard top.id == id else { return 0 }
        return Int(top.state == .structure ? top.next - plan.nodes[Int(top.node)].first : top.next)
    }
    /// Counts what is ahead: the wire format has no number of elements.
    func count(_ id: UInt64) -> Int? {
        guard top.id == id else { return nil }
        let node = plan.nodes[Int(top.node)]
        var (ahead, count) = (reader, Int(top.next))
        switch top.state {
        case .structure: return Int(node.last - node.first)
        case .array:
            while ahead.position < top.end {
                guard (try? ahead.skip(node.first, plan)) != nil else { return nil }
                count += 1
            }
            return count
        default: return nil
        }
    }
    private func checkTurn(_ id: UInt64) throws {
        if top.id != id { throw over() }
    }
}
