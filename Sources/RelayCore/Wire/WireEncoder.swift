/// Writes a value by a plan: what `encode(to:)` does is compared with the plan step by step, and never trusted.
final class WireEncoder: Encoder {
    /// A value under way.
    struct Frame {
        enum State: UInt8 { case fresh, structure, array, pairs, keyedPairs, single }
        var node: Int32
        var state = State.fresh
        /// Structure: the next field. Pairs: how many keys and values were written. Single: 1 when written.
        var next: Int32 = 0
        /// Tells a container that outlived its value from the one that is on.
        var id: UInt32
        var array: WireWriter.ArrayMark?
        var optional: WireWriter.ArrayMark?
    }
    // Unchecked: the encoder is confined to one call of `encode`, and no access spans code of others; the checks were a sixth
    // of the encoding's time.
    @exclusivity(unchecked) var writer = WireWriter.empty
    let plan: WirePlan
    let typeName: String
    @exclusivity(unchecked) private(set) var top: Frame
    @exclusivity(unchecked) private var outer: [Frame] = []
    @exclusivity(unchecked) private var lastID: UInt32 = 0
    /// The first thing that went wrong: `encode(to:)` may have swallowed it.
    @exclusivity(unchecked) private var failure: (any Error)?

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
        if top.state == .structure || top.state == .keyedPairs { return top.id }
        guard top.state == .fresh else { return refuse("it asks for containers of two kinds") }
        openOptional()
        let node = plan.nodes[Int(top.node)]
        switch node.kind {
        case .structure: startStructure(node)
        case .dictionary:
            top.array = writer.beginArray(elementAlignment: 8)
            top.state = .keyedPairs
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
    private func openOptional() {
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

    func refuseNested() -> UInt32 { refuse("it nests containers by hand; declare a structure or an array instead") }
    func refuseSuper() -> UInt32 { refuse("class inheritance has no D-Bus form") }

    // MARK: Where the next value goes

    /// The node of the next write by name.
    @inline(__always) func field(_ name: String, _ id: UInt32) throws -> Int32 {
        if top.id == id, top.state == .structure, Int(top.next) < plan.fields.count {
            let field = plan.fields[Int(top.next)]
            if field.name == name, top.next < plan.nodes[Int(top.node)].last {
                top.next += 1
                return field.node
            }
        }
        return try laterField(name, id)
    }
    @inline(never) private func laterField(_ name: String, _ id: UInt32) throws -> Int32 {
        try checkTurn(id)
        if top.state == .keyedPairs { return try entry(name) }
        guard top.state == .structure else { throw problem("it writes '\(name)' where no field belongs") }
        let last = plan.nodes[Int(top.node)].last
        while top.next < last {
            let field = plan.fields[Int(top.next)]
            if field.name == name {
                top.next += 1
                return field.node
            }
            guard plan.nodes[Int(field.node)].kind == .optional else {
                throw problem("it writes '\(name)' where '\(field.name)' is next")
            }
            try writeNil(field.node)
            top.next += 1
        }
        throw problem("it writes '\(name)', which is unknown or came before")
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
    func element(_ id: UInt32) throws -> Int32 {
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
        case .fresh, .keyedPairs: throw problem("it writes a value without asking for its container")
        }
    }
    private func checkTurn(_ id: UInt32) throws {
        if let failure { throw failure }
        if top.id != id { throw problem("it writes to a container whose turn is not now") }
    }

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
        do { if try WireArrays.write(value, plan, node, &writer) { return } } catch { throw remembered(error) }
        outer.append(top)
        lastID += 1
        let id = lastID
        top = Frame(node: node, id: id)
        try value.encode(to: self)
        if let failure { throw failure }
        if top.id != id { throw problem("it goes on after an error within") }
        do { try finishFrame() } catch { throw remembered(error) }
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

    // MARK: Messages

    /// An error about this value, remembered: whoever swallows it gains nothing.
    func problem(_ reason: String) -> any Error {
        remembered(
            RelayError(
                .invalidArgument, "\(path) cannot be sent: \(reason); encode(to:) must write what init(from:) reads"))
    }
    @inline(never) private func remembered(_ error: any Error) -> any Error {
        let first = failure ?? described(error)
        failure = first
        return first
    }
    private func described(_ error: any Error) -> RelayError {
        switch error {
        case let error as RelayError where error.message.hasPrefix(typeName): error  // It has its place already.
        case let error as RelayError: RelayError(error.code, "\(path): \(error.message)", cause: error)
        default: RelayError(.invalidArgument, "\(path) refuses to be encoded: \(error)", cause: error)
        }
    }
    /// `Type.field.field[]`, as far as the encoding got.
    var path: String {
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
    static func name(_ kind: WirePlan.Kind) -> String {
        switch kind {
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .structure: "a structure"
        case .optional: "an optional of another type"
        default: "a \(kind)"
        }
    }
}
