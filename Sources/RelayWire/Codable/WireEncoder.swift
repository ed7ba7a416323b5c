/// Writes a value by a plan: what `encode(to:)` does is compared with the plan step by step, and never trusted.
final class WireEncoder: Encoder {
    /// A value under way.
    struct Frame {
        enum State: UInt8 { case fresh, structure, array, pairs, keyedPairs, single, tagged }
        var node: Int32
        var state = State.fresh
        /// Structure: the next field. Pairs: how many keys and values were written. Single: 1 when written. Tagged: 1
        /// when the case was written, whose payload is then the next frame.
        var next: Int32 = 0
        /// Distinguishes a container that outlived its value from the present one.
        var id: UInt32
        var array: WireWriter.ArrayMark?
        var optional: WireWriter.ArrayMark?
    }
    // Unchecked: the encoder is confined to one call of `encode`, and no access spans code of others; the checks were a
    // sixth of the encoding's time.
    @exclusivity(unchecked) var writer = WireWriter.empty
    let plan: WirePlan
    let typeName: String
    @exclusivity(unchecked) var top: Frame
    @exclusivity(unchecked) var outer: [Frame] = []
    @exclusivity(unchecked) private var lastID: UInt32 = 0
    /// The first thing that went wrong: `encode(to:)` may have swallowed it.
    @exclusivity(unchecked) var failure: (any Error)?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(_ plan: WirePlan, _ typeName: String) {
        (self.plan, self.typeName) = (plan, typeName)
        top = Frame(node: plan.root, state: .fresh, id: 0)
    }

    /// Appends the arguments of a body. On an error the writer is as before.
    static func encode<T: Encodable>(
        _ value: T, isStructure: Bool, _ plan: WirePlan, _ typeName: @autoclosure () -> String,
        into writer: inout WireWriter
    ) throws(RelayError) {
        let encoder = WireEncoder(plan, typeName())
        let mark = writer.count
        swap(&writer, &encoder.writer)
        defer { swap(&writer, &encoder.writer) }
        do {
            if isStructure {
                try value.encode(to: encoder)
            } else {
                encoder.top.state = .structure
                encoder.top.next = encoder.plan.nodes[Int(plan.root)].first
                try encoder.value(value, encoder.field("value", encoder.top.id))
            }
            if let failure = encoder.failure { throw failure }
            if !encoder.outer.isEmpty { throw encoder.problem("it goes on after an error within") }
            try encoder.finishFrame()
        } catch {
            let failure = encoder.failure ?? error
            let described = encoder.described(failure)
            encoder.writer.truncate(to: mark)
            throw described
        }
    }

    // MARK: The value's requests

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(WireKeyedEncoding<Key>(encoder: self, id: startKeyed()))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { WireUnkeyedEncoding(encoder: self, id: startUnkeyed()) }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        WireSingleEncoding(encoder: self, id: startSingle())
    }

    /// The id of no frame: every write to its container fails.
    private static let refused = UInt32.max

    private func startKeyed() -> UInt32 {
        if top.state == .structure || top.state == .keyedPairs || top.state == .tagged { return top.id }
        guard top.state == .fresh else { return refuse("it asks for containers of two kinds") }
        openOptional()
        let node = plan.nodes[Int(top.node)]
        switch node.kind {
        case .structure: startStructure(node)
        case .dictionary:
            top.array = writer.beginArray(elementAlignment: 8)
            top.state = .keyedPairs
        case .tagged:
            writer.align(8)
            top.state = .tagged
        default: return refuse("it writes named fields for \(Self.name(node.kind))")
        }
        return top.id
    }
    private func startStructure(_ node: WirePlan.Node) {
        if !(outer.isEmpty && top.node == plan.root) { writer.align(8) }
        top.state = .structure
        top.next = node.first
    }
    private func startUnkeyed() -> UInt32 {
        if top.state == .array || top.state == .pairs { return top.id }
        guard top.state == .fresh else { return refuse("it asks for containers of two kinds") }
        openOptional()
        let node = plan.nodes[Int(top.node)]
        switch node.kind {
        case .structure: startStructure(node)
        case .array:
            top.array = writer.beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
            top.state = .array
        case .dictionary:
            top.array = writer.beginArray(elementAlignment: 8)
            top.state = .pairs
        default: return refuse("it writes a sequence for \(Self.name(node.kind))")
        }
        return top.id
    }
    private func startSingle() -> UInt32 {
        guard top.state == .fresh else { return refuse("it asks for containers of two kinds") }
        top.state = .single
        return top.id
    }
    func openOptional() {
        let node = plan.nodes[Int(top.node)]
        guard node.kind == .optional else { return }
        top.optional = writer.beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
        top.node = node.first
    }
    /// For what Codable lets nobody throw at.
    func refuse(_ reason: String) -> UInt32 {
        if failure == nil { failure = problem(reason) }
        return Self.refused
    }

    /// Begins the payload of an enum's case, in a container under the case's name.
    func startPayload(_ name: String, _ id: UInt32) -> UInt32 {
        guard top.id == id, top.state == .tagged, top.next == 0 else { return refuseNested() }
        guard let variant = plan.enums[Int(plan.nodes[Int(top.node)].first)].variant(name) else {
            if failure == nil {
                let text =
                    "\(path) cannot be sent: its contract has no case '\(name)', which may stand for unknown ones only"
                failure = RelayError(.invalidArgument, text)
            }
            return Self.refused
        }
        top.next = 1
        writer.string(variant.utf8)
        writer.signature(variant.signature)
        if variant.hasPayload { writer.align(8) } else { writer.byte(0) }
        outer.append(top)
        lastID += 1
        top = Frame(node: variant.node, state: .structure, next: plan.nodes[Int(variant.node)].first, id: lastID)
        return lastID
    }
    func refuseNested() -> UInt32 { refuse("it nests containers by hand; declare a structure or an array instead") }
    func refuseSuper() -> UInt32 { refuse("class inheritance has no D-Bus form") }

    // MARK: Writing

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
        lastID += 1
        let id = lastID
        top = Frame(node: node, id: id)
        try value.encode(to: self)
        if let failure { throw failure }
        do {
            if top.id != id { try finishPayload(of: id) }
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
    private func finishPayload(of id: UInt32) throws {
        guard let last = outer.last, last.id == id, last.state == .tagged else {
            throw problem("it goes on after an error within")
        }
        try finishFrame()
        top = outer.removeLast()
    }
    private func finishFrame() throws {
        switch top.state {
        case .fresh:
            // A structure whose fields are all optional, and nil, may not have asked for its container.
            openOptional()
            let node = plan.nodes[Int(top.node)]
            guard node.kind == .structure else { throw problem("it writes nothing for \(Self.name(node.kind))") }
            startStructure(node)
            try finishStructure()
        case .structure: try finishStructure()
        case .single: if top.next == 0 { throw problem("it writes nothing") }
        case .tagged: if top.next == 0 { throw problem("it writes no case") }
        case .pairs: if top.next & 1 == 1 { throw problem("it writes a key without a value") }
        case .array, .keyedPairs: break
        }
        if let array = top.array { try writer.endArray(array) }
        if let optional = top.optional { try writer.endArray(optional) }
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
