// Where the next value goes.
extension WireEncoder {
    /// The node of the next write by name.
    @inline(__always) func field(_ name: String, _ id: UInt64) throws -> Int32 {
        if top.id == id, top.state == .structure, Int(top.next) < plan.fields.count {
            let field = plan.fields[Int(top.next)]
            if field.name == name, top.next < plan.nodes[Int(top.node)].last {
                top.next += 1
                return field.node
            }
        }
        return try laterField(name, id)
    }
    @inline(never) private func laterField(_ name: String, _ id: UInt64) throws -> Int32 {
        try checkTurn(id)
        if top.state == .keyedPairs { return try entry(name) }
        guard top.state == .structure else { throw problem("it writes '\(name)' where no field belongs") }
        let last = plan.nodes[Int(top.node)].last
        guard let index = (top.next..<last).first(where: { plan.fields[Int($0)].name == name }) else {
            throw problem("it writes '\(name)', which is unknown or came before")
        }
        try leaveOut(upTo: index)
        top.next += 1
        return plan.fields[Int(index)].node
    }
    /// Leaves out the fields up to another one, which is known to come.
    @inline(never) func leaveOut(upTo index: Int32) throws {
        if let failure { throw failure }
        while top.next < index {
            let field = plan.fields[Int(top.next)]
            guard plan.nodes[Int(field.node)].kind == .optional else {
                throw problem("it writes '\(plan.fields[Int(index)].name)' where '\(field.name)' is next")
            }
            try writeNil(field.node)
            top.next += 1
        }
    }
    /// Begins a dictionary's entry: writes its key, returns the value's node.
    private func entry(_ key: String) throws -> Int32 {
        let node = plan.nodes[Int(top.node)]
        writer.align(8)
        let isWritten =
            switch plan.nodes[Int(node.first)].kind {
            case .string:
                try {
                    try writer.string(key, named: "a dictionary's key"); return true
                }()
            case .byte: UInt8(key).map { writer.byte($0) } != nil
            case .int16: Int16(key).map { writer.int16($0) } != nil
            case .uint16: UInt16(key).map { writer.uint16($0) } != nil
            case .int32: Int32(key).map { writer.int32($0) } != nil
            case .uint32: UInt32(key).map { writer.uint32($0) } != nil
            case .int64: Int64(key).map { writer.int64($0) } != nil
            case .uint64: UInt64(key).map { writer.uint64($0) } != nil
            case .double: Double(key).map { writer.double($0) } != nil
            default: false
            }
        if !isWritten {
            throw problem(
                "it writes the key \(BusNames.quoted(key)) for \(Self.name(plan.nodes[Int(node.first)].kind))")
        }
        return node.last
    }
    /// The node of the next write without a name.
    func element(_ id: UInt64) throws -> Int32 {
        try checkTurn(id)
        let node = plan.nodes[Int(top.node)]
        switch top.state {
        case .array: return node.first
        case .pairs:
            top.next += 1
            if top.next & 1 == 1 {
                writer.align(8)
                return node.first
            }
            return node.last
        case .structure:
            guard top.next < node.last else { throw problem("it writes more values than the structure has") }
            top.next += 1
            return plan.fields[Int(top.next) - 1].node
        case .single:
            guard top.next == 0 else { throw problem("it writes two values where one belongs") }
            top.next = 1
            return top.node
        case .fresh, .keyedPairs, .tagged: throw problem("it writes a value without asking for its container")
        }
    }
    private func checkTurn(_ id: UInt64) throws {
        if top.id != id { throw over() }
        if let failure { throw failure }
    }
}
