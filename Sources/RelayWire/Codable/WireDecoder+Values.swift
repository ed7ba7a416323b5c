// Reading one value, and ending it.
extension WireDecoder {
    /// Reads a basic value, out of its array where the plan has an optional.
    @inline(__always) private func scalar<V>(
        _ node: Int32, _ kind: WirePlan.Kind, _ read: (inout WireReader) throws(WireFault) -> V
    ) throws -> V {
        if plan.nodes[Int(node)].kind == kind { return try read(&reader) }
        return try unwrapped(node, kind, read)
    }
    @inline(never) private func unwrapped<V>(
        _ node: Int32, _ kind: WirePlan.Kind, _ read: (inout WireReader) throws(WireFault) -> V
    ) throws -> V {
        let found = plan.nodes[Int(node)]
        guard found.kind == .optional, plan.nodes[Int(found.first)].kind == kind else {
            throw problem("it reads \(WireEncoder.name(kind)) where \(WireEncoder.name(found.kind)) is")
        }
        let end = try beginOptional(found)
        let value = try read(&reader)
        if reader.position != end { throw WireFault(.optional, at: reader.position) }
        return value
    }
    @inline(__always) func bool(_ node: Int32) throws -> Bool {
        try scalar(node, .bool) { reader throws(WireFault) in try reader.bool() }
    }
    @inline(__always) func byte(_ node: Int32) throws -> UInt8 {
        try scalar(node, .byte) { reader throws(WireFault) in try reader.byte() }
    }
    @inline(__always) func int16(_ node: Int32) throws -> Int16 {
        try scalar(node, .int16) { reader throws(WireFault) in try reader.int16() }
    }
    @inline(__always) func uint16(_ node: Int32) throws -> UInt16 {
        try scalar(node, .uint16) { reader throws(WireFault) in try reader.uint16() }
    }
    @inline(__always) func int32(_ node: Int32) throws -> Int32 {
        try scalar(node, .int32) { reader throws(WireFault) in try reader.int32() }
    }
    @inline(__always) func uint32(_ node: Int32) throws -> UInt32 {
        try scalar(node, .uint32) { reader throws(WireFault) in try reader.uint32() }
    }
    @inline(__always) func int64(_ node: Int32) throws -> Int64 {
        try scalar(node, .int64) { reader throws(WireFault) in try reader.int64() }
    }
    @inline(__always) func uint64(_ node: Int32) throws -> UInt64 {
        try scalar(node, .uint64) { reader throws(WireFault) in try reader.uint64() }
    }
    @inline(__always) func double(_ node: Int32) throws -> Double {
        try scalar(node, .double) { reader throws(WireFault) in try reader.double() }
    }
    @inline(__always) func string(_ node: Int32) throws -> String {
        try scalar(node, .string) { reader throws(WireFault) in try reader.string() }
    }
    func int8(_ node: Int32) throws -> Int8 {
        let wide = try scalar(node, .int16) { reader throws(WireFault) in try reader.int16() }
        guard let value = Int8(exactly: wide) else { throw problem("\(wide) is no Int8") }
        return value
    }
    /// Reads any other value, by its own `init(from:)`.
    func value<T: Decodable>(_ type: T.Type, _ node: Int32) throws -> T {
        if plan.hasForeign, let value = try foreign(type, node) { return value }
        switch plan.nodes[Int(node)].kind {
        case .array: if let array = try WireArrays.read(type, plan, node, &reader) { return array }
        case .tagged, .optional: if let unknown = try unknownValue(type, node) { return unknown }
        default: break
        }
        outer.append(top)
        let depth = outer.count
        top = Frame(node: node, id: nextID(), start: reader.position)
        let value = try type.init(from: WireDecoding(self))
        if outer.count != depth { try finishPayload(depth) }
        try finishFrame()
        top = outer.removeLast()
        return value
    }
    /// Nil for a type that is its own form.
    @inline(never) private func foreign<T: Decodable>(_ type: T.Type, _ node: Int32) throws -> T? {
        guard let type = type as? any WireRepresented.Type else { return nil }
        func read<F: WireRepresented>(_ type: F.Type) throws -> T {
            let form = try value(F.Carried.self, node)
            do throws(RelayError) { return try F(carried: form) as! T } catch {  // The same type.
                throw RelayError(error.code, "\(path): \(error.message)", cause: error)
            }
        }
        return try read(type)
    }
    private func finishPayload(_ depth: Int) throws {
        guard outer.count == depth + 1, outer[depth].state == .tagged else {
            throw problem("it goes on after an error within")
        }
        try finishFrame()
        top = outer.removeLast()
    }
    /// Passes over what the type did not read, and checks the ends.
    @inline(__always) func finishFrame() throws {
        if top.state == .structure {
            try finishStructure()
            containers.giveBack(top.node, top.id, of: self)
        } else {
            try finishOther()
        }
        if top.optionalEnd >= 0, reader.position != top.optionalEnd {
            throw WireFault(.optional, at: reader.position)
        }
    }
    @inline(never) private func finishOther() throws {
        switch top.state {
        case .fresh:
            if outer.isEmpty {
                startStructure(plan.nodes[Int(plan.root)])
                try finishStructure()
            } else {
                try reader.skip(top.node, plan)
            }
        case .single: if top.next == 0 { try reader.skip(top.node, plan) }
        case .array:
            let element = plan.nodes[Int(top.node)].first
            while reader.position < top.end { try reader.skip(element, plan) }
            try reader.endArray(top.end, elements: top.start)
        case .pairs:
            while reader.position < top.end || top.next & 1 == 1 { try reader.skip(element(top.id), plan) }
            try reader.endArray(top.end, elements: top.start)
        case .keyedPairs:
            reader.position = top.end
            // Not for the next value, and not to be kept: they may be many.
            containers.own(top.node, top.id)?._withUnsafeGuaranteedRef { $0.entries = [] }
            containers.giveBack(top.node, top.id, of: self)
        case .tagged:
            if top.next >= 0, plan.nodes[Int(top.next)].first < plan.nodes[Int(top.next)].last {
                try reader.skip(top.next, plan)
            }
            containers.giveBack(top.node, top.id, of: self)
        case .structure: break
        }
    }
    @inline(__always) private func finishStructure() throws {
        let last = plan.nodes[Int(top.node)].last
        while top.next < last {
            try reader.skip(plan.fields[Int(top.next)].node, plan)
            top.next += 1
        }
    }
}
