// Writing one value, and ending it.
extension WireEncoder {
    /// Writes a basic value, wrapped in an array where the plan has an optional.
    @inline(__always) func scalar(
        _ node: Int32, _ kind: WirePlan.Kind, _ write: (inout WireWriter) throws(RelayError) -> Void
    ) throws {
        do {
            if plan.nodes[Int(node)].kind == kind { try write(&writer) } else { try wrapped(node, kind, write) }
        } catch { throw remembered(error) }
    }
    @inline(never) private func wrapped(
        _ node: Int32, _ kind: WirePlan.Kind, _ write: (inout WireWriter) throws(RelayError) -> Void
    ) throws {
        let expected = plan.nodes[Int(node)]
        guard expected.kind == .optional, plan.nodes[Int(expected.first)].kind == kind else {
            throw problem("it writes \(Self.name(kind)) where \(Self.name(expected.kind)) belongs")
        }
        let mark = writer.beginArray(elementAlignment: Int(plan.nodes[Int(expected.first)].alignment))
        try write(&writer)
        try writer.endArray(mark)
    }
    func writeNil(_ node: Int32) throws {
        let optional = plan.nodes[Int(node)]
        guard optional.kind == .optional else { throw problem("it writes nil for \(Self.name(optional.kind))") }
        _ = writer.beginArray(elementAlignment: Int(plan.nodes[Int(optional.first)].alignment))
    }
    /// Writes any other value, by its own `encode(to:)`.
    func value<T: Encodable>(_ value: T, _ node: Int32) throws {
        if plan.hasForeign, try foreign(value, node) { return }
        do { if try WireArrays.write(value, plan, node, &writer) { return } } catch { throw remembered(error) }
        outer.append(top)
        let depth = outer.count
        top = Frame(node: node, id: nextID())
        try value.encode(to: WireEncoding(self))
        if let failure { throw failure }
        do {
            if outer.count != depth { try finishPayload(depth) }
            try finishFrame()
        } catch { throw remembered(error) }
        top = outer.removeLast()
    }
    /// False for a type that is its own form.
    @inline(never) private func foreign<T: Encodable>(_ value: T, _ node: Int32) throws -> Bool {
        guard let value = value as? any WireRepresented, type(of: value) == T.self else { return false }
        func write<F: WireRepresented>(_ value: F) throws {
            let form: F.Carried
            do throws(RelayError) { form = try value.carried() } catch { throw remembered(error) }
            try self.value(form, node)
        }
        try write(value)
        return true
    }
    private func finishPayload(_ depth: Int) throws {
        guard outer.count == depth + 1, outer[depth].state == .tagged else {
            throw problem("it goes on after an error within")
        }
        try finishFrame()
        top = outer.removeLast()
    }
    @inline(__always) func finishFrame() throws {
        switch top.state {
        case .structure:
            try finishStructure()
            containers.giveBack(top.node, top.id, of: self)
        default: try finishOther()
        }
        if let array = top.array { try writer.endArray(array) }
        if let optional = top.optional { try writer.endArray(optional) }
    }
    @inline(never) private func finishOther() throws {
        switch top.state {
        case .fresh:
            // A structure whose fields are all optional, and nil, may not have asked for its container.
            openOptional()
            let node = plan.nodes[Int(top.node)]
            guard node.kind == .structure else { throw problem("it writes nothing for \(Self.name(node.kind))") }
            startStructure(node)
            try finishStructure()
        case .single: if top.next == 0 { throw problem("it writes nothing") }
        case .tagged:
            if top.next == 0 { throw problem("it writes no case") }
            containers.giveBack(top.node, top.id, of: self)
        case .pairs: if top.next & 1 == 1 { throw problem("it writes a key without a value") }
        case .keyedPairs: containers.giveBack(top.node, top.id, of: self)
        case .array, .structure: break
        }
    }
    @inline(__always) private func finishStructure() throws {
        let last = plan.nodes[Int(top.node)].last
        while top.next < last {
            let field = plan.fields[Int(top.next)]
            guard plan.nodes[Int(field.node)].kind == .optional else { throw problem("it leaves '\(field.name)' out") }
            try writeNil(field.node)
            top.next += 1
        }
    }
}
