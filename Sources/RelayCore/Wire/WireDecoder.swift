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
    @exclusivity(unchecked) private(set) var reader: WireReader
    let plan: WirePlan
    let typeName: String
    @exclusivity(unchecked) private var top: Frame
    @exclusivity(unchecked) private var outer: [Frame] = []
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
    private func openOptional() throws {
        let node = plan.nodes[Int(top.node)]
        guard node.kind == .optional else { return }
        top.optionalEnd = try beginOptional(node)
        top.node = node.first
    }
    private func beginOptional(_ node: WirePlan.Node) throws -> Int {
        let end = try reader.beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
        if end == reader.position { throw problem("there is no value") }
        return end
    }

    // MARK: Where the next value is

    /// The node of a field, with the reader at its value.
    @inline(__always) func field(_ name: String, _ id: UInt32) throws -> Int32 {
        if top.id == id, top.state == .structure, Int(top.next) < plan.fields.count {
            let field = plan.fields[Int(top.next)]
            if field.name == name, top.next < plan.nodes[Int(top.node)].last {
                top.next += 1
                return field.node
            }
        }
        return try otherField(name, id)
    }
    @inline(never) private func otherField(_ name: String, _ id: UInt32) throws -> Int32 {
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
        let isNext = Int(top.next) < top.entries.count && top.entries[Int(top.next)].key == key
        guard let index = isNext ? Int(top.next) : top.entries.firstIndex(where: { $0.key == key }) else {
            throw problem("it reads the key \(BusNames.quoted(key)), which is not there")
        }
        reader.position = top.entries[index].position
        top.next = Int32(index + 1)
        return plan.nodes[Int(top.node)].last
    }
    func keys<Key: CodingKey>(_ id: UInt32) -> [Key] {
        guard top.id == id else { return [] }
        if top.state == .structure {
            let node = plan.nodes[Int(top.node)]
            return plan.fields[Int(node.first)..<Int(node.last)].compactMap { Key(stringValue: $0.name) }
        }
        let isNumber = plan.nodes[Int(plan.nodes[Int(top.node)].first)].kind != .string
        return top.entries.compactMap { entry in
            if isNumber, let number = Int(entry.key), let key = Key(intValue: number) { return key }
            return Key(stringValue: entry.key)
        }
    }
    func contains(_ name: String, _ id: UInt32) -> Bool {
        guard top.id == id else { return false }
        if top.state == .keyedPairs { return top.entries.contains { $0.key == name } }
        guard let index = index(of: name) else { return false }
        guard plan.nodes[Int(plan.fields[Int(index)].node)].kind == .optional else { return true }
        // A field that cannot be reached is reported when it is read.
        return (try? isNil(name, id)) != true
    }
    /// Whether a field is absent or an empty optional; it stays unread.
    func isNil(_ name: String, _ id: UInt32) throws -> Bool {
        try checkTurn(id)
        if top.state == .keyedPairs {
            guard top.entries.contains(where: { $0.key == name }) else { return true }
            let node = try entry(name)
            top.next -= 1
            return try isEmptyOptional(node)
        }
        guard let index = index(of: name) else { return true }
        try seek(index)
        return try isEmptyOptional(plan.fields[Int(index)].node)
    }
    /// As `isNil`, and reads an empty optional to its end.
    func passNil(_ name: String, _ id: UInt32) throws -> Bool {
        guard try isNil(name, id) else { return false }
        if top.state == .structure, let index = index(of: name) { try seek(index + 1) }
        return true
    }
    private func isEmptyOptional(_ node: Int32) throws -> Bool {
        guard plan.nodes[Int(node)].kind == .optional else { return false }
        let position = reader.position
        defer { reader.position = position }
        return try reader.uint32() == 0
    }
    /// Whether the value that `singleValueContainer` stands for is an empty optional.
    func isNil(_ id: UInt32) -> Bool {
        guard top.id == id, top.state == .single, top.next == 0 else { return false }
        return (try? isEmptyOptional(top.node)) ?? false
    }
    /// The node of the next value without a name.
    func element(_ id: UInt32) throws -> Int32 {
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
        case .fresh, .keyedPairs: throw problem("it reads a value without asking for its container")
        }
    }
    /// As `passNil`, for the next value without a name.
    func passNilElement(_ id: UInt32) throws -> Bool {
        let (before, position) = (top.next, reader.position)
        let node = try element(id)
        if try isEmptyOptional(node) {
            try reader.skip(node, plan)
            return true
        }
        (top.next, reader.position) = (before, position)
        return false
    }
    func isAtEnd(_ id: UInt32) -> Bool {
        guard top.id == id else { return true }
        return switch top.state {
        case .array: reader.position >= top.end
        case .pairs: reader.position >= top.end && top.next & 1 == 0
        case .structure: top.next >= plan.nodes[Int(top.node)].last
        default: true
        }
    }
    func index(_ id: UInt32) -> Int {
        guard top.id == id else { return 0 }
        return Int(top.state == .structure ? top.next - plan.nodes[Int(top.node)].first : top.next)
    }
    /// Counts what is ahead: the wire format has no number of elements.
    func count(_ id: UInt32) -> Int? {
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
    private func checkTurn(_ id: UInt32) throws {
        if top.id != id { throw problem("it reads from a container whose turn is not now") }
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

    // MARK: Messages

    func nested() -> any Error { problem("it nests containers by hand; declare a structure or an array instead") }
    func inherited() -> any Error { problem("class inheritance has no D-Bus form") }

    func problem(_ reason: String) -> any Error {
        RelayError(.invalidArgument, "\(path) cannot be read: \(reason)")
    }
    private func described(_ error: any Error) -> RelayError {
        switch error {
        case let error as RelayError: error
        case let fault as WireFault: fault.relayError("\(path), a body,")
        default: RelayError(.invalidArgument, "\(path) refuses its value: \(Self.reason(error))", cause: error)
        }
    }
    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .dataCorrupted(let context)?, .typeMismatch(_, let context)?, .valueNotFound(_, let context)?,
            .keyNotFound(_, let context)?:
            context.debugDescription
        default: "\(error)"
        }
    }
    /// `Type.field.field[]`, as far as the decoding got.
    private var path: String {
        (outer + [top]).reduce(into: typeName) { text, frame in
            switch frame.state {
            case .structure:
                let node = plan.nodes[Int(frame.node)]
                if frame.next > node.first { text += "." + plan.fields[Int(frame.next) - 1].name }
            case .array: text += "[]"
            case .pairs, .keyedPairs: text += "{}"
            case .fresh, .single: break
            }
        }
    }
}
