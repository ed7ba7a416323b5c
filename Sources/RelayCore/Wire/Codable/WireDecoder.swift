/// Reads a value by the sender's plan, from bytes that may be anything.
final class WireDecoder: Decoder {
    /// A value under way.
    struct Frame {
        enum State: UInt8 { case fresh, structure, array, pairs, keyedPairs, single }
        var node: Int32
        var state = State.fresh
        /// Structure: the next field. Keyed pairs: the next entry. Else how many values were read.
        var next: Int32 = 0
        /// Tells a container that outlived its value from the one that is on.
        var id: UInt32
        /// Where the value's content starts, and, for arrays, ends.
        var start = 0
        var end = 0
        /// Where an optional's array ends; -1 when there is none.
        var optionalEnd = -1
        var entries: [Entry] = []
    }
    /// A dictionary's entry, whose key was read and whose value was not.
    struct Entry {
        let key: String
        let position: Int
    }
    // Unchecked: as in `WireEncoder`.
    @exclusivity(unchecked) var reader: WireReader
    let plan: WirePlan
    let typeName: String
    @exclusivity(unchecked) var top: Frame
    @exclusivity(unchecked) var outer: [Frame] = []
    @exclusivity(unchecked) private var lastID: UInt32 = 0

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(_ plan: WirePlan, _ typeName: String, _ reader: WireReader) {
        (self.plan, self.typeName, self.reader) = (plan, typeName, reader)
        top = Frame(node: plan.root, id: 0, start: reader.position)
    }

    /// Reads the plan's fields, all of them, and leaves the reader behind the last.
    static func decode<T: Decodable>(
        _ type: T.Type, isStructure: Bool, _ plan: WirePlan, _ typeName: @autoclosure () -> String,
        from reader: inout WireReader
    ) throws(RelayError) -> T {
        let decoder = WireDecoder(plan, typeName(), reader)
        do {
            let value: T
            if isStructure {
                value = try type.init(from: decoder)
            } else {
                decoder.startStructure(plan.nodes[Int(plan.root)])
                value = try decoder.value(type, decoder.field("value", 0))
            }
            if !decoder.outer.isEmpty { throw decoder.problem("it goes on after an error within") }
            try decoder.finishFrame()
            reader = decoder.reader
            return value
        } catch { throw decoder.described(error) }
    }

    // MARK: The type's requests

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if top.state != .structure && top.state != .keyedPairs {
            try openOptional()
            let node = plan.nodes[Int(top.node)]
            switch node.kind {
            case .structure: try alignAndStartStructure(node)
            case .dictionary: try startKeyedPairs(node)
            default: throw problem("it reads named fields from \(WireEncoder.name(node.kind))")
            }
        }
        return KeyedDecodingContainer(WireKeyedDecoding<Key>(decoder: self, id: top.id))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if top.state == .fresh {
            try openOptional()
            let node = plan.nodes[Int(top.node)]
            switch node.kind {
            case .structure: try alignAndStartStructure(node)
            case .array: try startArray(.array, alignment: Int(plan.nodes[Int(node.first)].alignment))
            case .dictionary: try startArray(.pairs, alignment: 8)
            default: throw problem("it reads a sequence from \(WireEncoder.name(node.kind))")
            }
        }
        return WireUnkeyedDecoding(decoder: self, id: top.id)
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard top.state == .fresh || top.state == .single else {
            throw problem("it asks for containers of two kinds")
        }
        top.state = .single
        return WireSingleDecoding(decoder: self, id: top.id)
    }
    private func alignAndStartStructure(_ node: WirePlan.Node) throws {
        if !(outer.isEmpty && top.node == plan.root) { try reader.align(8) }
        startStructure(node)
    }
    private func startStructure(_ node: WirePlan.Node) {
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
    /// Codable reads such a dictionary by key, and asks for all keys before: they are collected, and everything is checked.
    private func startKeyedPairs(_ node: WirePlan.Node) throws {
        try startArray(.keyedPairs, alignment: 8)
        while reader.position < top.end {
            try reader.align(8)
            let key = try entryKey(node.first)
            top.entries.append(Entry(key: key, position: reader.position))
            try reader.skip(node.last, plan)
        }
        try reader.endArray(top.end, elements: top.start)
    }
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

    // MARK: Reading

    /// Reads a basic value, out of its array where the plan has an optional.
    @inline(__always) func scalar<V>(
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
    func int8(_ node: Int32) throws -> Int8 {
        let wide = try scalar(node, .int16) { reader throws(WireFault) in try reader.int16() }
        guard let value = Int8(exactly: wide) else { throw problem("\(wide) is no Int8") }
        return value
    }
    /// Reads any other value, by its own `init(from:)`.
    func value<T: Decodable>(_ type: T.Type, _ node: Int32) throws -> T {
        if let array = try WireArrays.read(type, plan, node, &reader) { return array }
        outer.append(top)
        lastID += 1
        let id = lastID
        top = Frame(node: node, id: id, start: reader.position)
        let value = try type.init(from: self)
        if top.id != id { throw problem("it goes on after an error within") }
        try finishFrame()
        top = outer.removeLast()
        return value
    }
    /// Passes over what the type did not read, and checks the ends.
    private func finishFrame() throws {
        switch top.state {
        case .fresh:
            if outer.isEmpty {
                startStructure(plan.nodes[Int(plan.root)])
                try finishStructure()
            } else {
                try reader.skip(top.node, plan)
            }
        case .single: if top.next == 0 { try reader.skip(top.node, plan) }
        case .structure: try finishStructure()
        case .array:
            let element = plan.nodes[Int(top.node)].first
            while reader.position < top.end { try reader.skip(element, plan) }
            try reader.endArray(top.end, elements: top.start)
        case .pairs:
            while reader.position < top.end || top.next & 1 == 1 { try reader.skip(element(top.id), plan) }
            try reader.endArray(top.end, elements: top.start)
        case .keyedPairs: reader.position = top.end
        }
        if top.optionalEnd >= 0, reader.position != top.optionalEnd {
            throw WireFault(.optional, at: reader.position)
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
