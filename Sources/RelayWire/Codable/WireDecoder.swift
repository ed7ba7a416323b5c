/// Reads a value by the sender's plan, from bytes that may be anything; then the next one.
///
/// A container refers to its decoder without counting. One that outlives its value finds that its `id` is nobody's, and
/// the decoder stays for as long as the process does.
package final class WireDecoder {
    /// A value under way.
    struct Frame: BitwiseCopyable {
        enum State: UInt8 { case fresh, structure, array, pairs, keyedPairs, single, tagged }
        var node: Int32
        var state = State.fresh
        /// Structure: the next field. Keyed pairs: the next entry. Tagged: the case's node; -1 once its payload is the
        /// next frame. Else how many values were read.
        var next: Int32 = 0
        /// Tells a container that outlived its value from the one that is on.
        var id: UInt64
        /// Where the value's content starts, and, for arrays, ends.
        var start = 0
        var end = 0
        /// Where an optional's array ends; -1 when there is none.
        var optionalEnd = -1
    }
    /// A dictionary's entry, whose key was read and whose value was not.
    struct Entry {
        let key: String
        let position: Int
    }
    // Unchecked: as in `WireEncoder`.
    @exclusivity(unchecked) var reader: WireReader
    let plan: WirePlan
    /// Counts the values: a `WireDecoding` is of one of them.
    @exclusivity(unchecked) private(set) var run: UInt64 = 0
    @exclusivity(unchecked) private var type: Any.Type = Never.self
    @exclusivity(unchecked) var top: Frame
    @exclusivity(unchecked) var outer: [Frame] = []
    /// Of no value: none is 0, which stands for no value at all.
    @exclusivity(unchecked) private var lastID: UInt64 = 0
    /// By the plan's nodes. Counted by hand: each value asks for them several times.
    @exclusivity(unchecked) private var containers: [Unmanaged<WireContainers>?]
    /// A value has kept a container of this.
    @exclusivity(unchecked) private var isKept = false

    var typeName: String { "\(type)" }

    init(_ plan: WirePlan) {
        self.plan = plan
        reader = WireReader(UnsafeRawBufferPointer(start: nil, count: 0))
        top = Frame(node: plan.root, id: 0)
        containers = Array(repeating: nil, count: plan.nodes.count)
    }
    deinit { for containers in containers { containers?.release() } }

    /// Reads the plan's fields, all of them, and leaves the reader behind the last.
    static func decode<T: Decodable>(
        _ type: T.Type, isStructure: Bool, _ pool: WireDecoderPool, from reader: inout WireReader
    ) throws(RelayError) -> T {
        let taken = pool.take()
        do {
            let value = try taken._withUnsafeGuaranteedRef { decoder in
                try decoder.decode(type, isStructure: isStructure, from: &reader)
            }
            pool.keep(taken)
            return value
        } catch {
            let decoder = taken.takeRetainedValue()
            defer { decoder.abandon() }
            throw decoder.described(error)
        }
    }
    /// Reads one value of many, for one who keeps this decoder meanwhile. It can go on after an error.
    @inline(__always) func decodeNext<T: Decodable>(
        _ type: T.Type, isStructure: Bool, from reader: inout WireReader
    ) throws(RelayError) -> T {
        do { return try decode(type, isStructure: isStructure, from: &reader) } catch { throw failed(error) }
    }
    @inline(never) private func failed(_ error: any Error) -> RelayError {
        let described = described(error)
        abandon()
        // Who kept a container of this value finds that it is over. The next value gets containers of its own.
        for index in containers.indices {
            containers[index]?.release()
            containers[index] = nil
        }
        return described
    }
    @inline(__always) private func decode<T: Decodable>(
        _ type: T.Type, isStructure: Bool, from reader: inout WireReader
    ) throws -> T {
        begin(type, reader)
        let value: T
        if isStructure {
            value = try type.init(from: WireDecoding(self))
        } else {
            startStructure(plan.nodes[Int(plan.root)])
            value = try self.value(type, field("value", top.id))
        }
        if !outer.isEmpty { throw problem("it goes on after an error within") }
        try finishFrame()
        reader = self.reader
        end()
        return value
    }
    @inline(__always) private func begin(_ type: Any.Type, _ reader: WireReader) {
        run &+= 1
        (self.type, self.reader) = (type, reader)
        top = Frame(node: plan.root, id: nextID(), start: reader.position)
    }
    /// The bytes go: nothing that was kept may read on.
    @inline(__always) private func end() {
        run &+= 1
        top.id = 0
    }
    /// After an error: what is under way stays so.
    private func abandon() {
        end()
        outer.removeAll()
        if containers.contains(where: { $0?._withUnsafeGuaranteedRef { $0.areAlone } == false }) { stay() }
    }
    /// Containers are out, which do not count their references to this.
    private func stay() {
        if isKept { return }
        isKept = true
        _ = Unmanaged.passRetained(self)
    }
    @inline(__always) private func nextID() -> UInt64 {
        lastID &+= 1
        return lastID
    }

    // MARK: The type's requests

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
        if !lendAgain() { lendNew(id: nextID()) }
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
        guard top.id == id, top.state == .tagged, top.next >= 0, variantName(top.next) == name else { throw nested() }
        let node = top.next
        top.next = -1
        outer.append(top)
        top = Frame(node: node, id: nextID(), start: reader.position)
        if plan.nodes[Int(node)].first < plan.nodes[Int(node)].last { try reader.align(8) }
        startStructure(plan.nodes[Int(node)])
        if !lendAgain() { lendNew(id: nextID()) }
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
    private func unknownValue<T: Decodable>(_ type: T.Type, _ index: Int32) throws -> T? {
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
    /// Those of the node that is on, if they serve this value.
    @inline(__always) private var ownContainers: Unmanaged<WireContainers>? {
        guard let found = containers[Int(top.node)], found._withUnsafeGuaranteedRef({ $0.id }) == top.id else {
            return nil
        }
        return found
    }
    @inline(__always) private func lent() -> Unmanaged<WireContainers> {
        if let lent = ownContainers { return lent }
        // It has asked for one without names before, whose id is then theirs.
        return lendNew(id: top.id, isMixed: true)
    }
    @inline(__always) private func lendAgain() -> Bool {
        guard let found = containers[Int(top.node)] else { return false }
        return found._withUnsafeGuaranteedRef { found in
            if found.isLent { return false }
            (found.isLent, top.id) = (true, found.id)
            return true
        }
    }
    @inline(never) @discardableResult private func lendNew(id: UInt64, isMixed: Bool = false) -> Unmanaged<
        WireContainers
    > {
        drop()
        let new = Unmanaged.passRetained(WireContainers(id: id, isMixed: isMixed))
        containers[Int(top.node)] = new
        top.id = id
        return new
    }
    @inline(__always) private func giveBack() {
        guard let lent = ownContainers else { return }
        let isSound = lent._withUnsafeGuaranteedRef { lent in
            lent.isLent = false
            return !lent.isMixed && lent.areAlone
        }
        if !isSound { drop() }
    }
    @inline(never) private func drop() {
        guard let dropped = containers[Int(top.node)]?.takeRetainedValue() else { return }
        containers[Int(top.node)] = nil
        if !dropped.areAlone { stay() }
    }
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
            ownContainers?._withUnsafeGuaranteedRef { $0.isMixed = true }
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

    // MARK: Reading

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
    @inline(__always) private func finishFrame() throws {
        switch top.state {
        case .fresh:
            if outer.isEmpty {
                startStructure(plan.nodes[Int(plan.root)])
                try finishStructure()
            } else {
                try reader.skip(top.node, plan)
            }
        case .single: if top.next == 0 { try reader.skip(top.node, plan) }
        case .structure:
            try finishStructure()
            giveBack()
        case .array:
            let element = plan.nodes[Int(top.node)].first
            while reader.position < top.end { try reader.skip(element, plan) }
            try reader.endArray(top.end, elements: top.start)
        case .pairs:
            while reader.position < top.end || top.next & 1 == 1 { try reader.skip(element(top.id), plan) }
            try reader.endArray(top.end, elements: top.start)
        case .keyedPairs:
            reader.position = top.end
            giveBack()
        case .tagged:
            if top.next >= 0, plan.nodes[Int(top.next)].first < plan.nodes[Int(top.next)].last {
                try reader.skip(top.next, plan)
            }
            giveBack()
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
