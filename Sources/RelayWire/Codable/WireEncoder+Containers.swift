// What a value's `encode(to:)` asks for.
extension WireEncoder {
    @inline(__always) func keyedContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        if top.state != .structure && top.state != .keyedPairs && top.state != .tagged, !startKeyed() {
            return refused(type)
        }
        return lent()._withUnsafeGuaranteedRef { $0.container(type, self) }
    }
    private func startKeyed() -> Bool {
        if top.state != .fresh { return refuse("it asks for containers of two kinds") }
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
        lend()
        return true
    }
    func startStructure(_ node: WirePlan.Node) {
        if !(outer.isEmpty && top.node == plan.root) { writer.align(8) }
        top.state = .structure
        top.next = node.first
    }
    @inline(__always) private func lent() -> Unmanaged<WireContainers> {
        containers.lent(top.node, top.id, of: self)
    }
    /// For the value that is on, whose id is then theirs.
    @inline(__always) private func lend() { top.id = containers.lend(top.node, of: self, else: nextID()) }
    /// Begins the payload of an enum's case, in a container under the case's name.
    func payload<Key: CodingKey>(_ type: Key.Type, _ name: String, _ id: UInt64) -> KeyedEncodingContainer<Key> {
        guard startPayload(name, id) else { return refused(type) }
        lend()
        return lent()._withUnsafeGuaranteedRef { $0.container(type, self) }
    }
    private func startPayload(_ name: String, _ id: UInt64) -> Bool {
        guard top.id == id, top.state == .tagged, top.next == 0 else {
            _ = refuseNested(id)
            return false
        }
        guard let variant = plan.enums[Int(plan.nodes[Int(top.node)].first)].variant(name) else {
            if failure == nil {
                let text =
                    "\(path) cannot be sent: its contract has no case '\(name)', which may stand for unknown ones only"
                failure = RelayError(.invalidArgument, text)
            }
            return false
        }
        top.next = 1
        writer.string(variant.utf8)
        writer.signature(variant.signature)
        if variant.hasPayload { writer.align(8) } else { writer.byte(0) }
        outer.append(top)
        top = Frame(node: variant.node, state: .structure, next: plan.nodes[Int(variant.node)].first, id: nextID())
        return true
    }

    func startUnkeyed() -> UInt64 {
        if top.state == .fresh {
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
            default: return refusal("it writes a sequence for \(Self.name(node.kind))")
            }
        } else if top.state != .array && top.state != .pairs {
            return refusal("it asks for containers of two kinds")
        }
        return top.id
    }
    func startSingle() -> UInt64 {
        guard top.state == .fresh else { return refusal("it asks for containers of two kinds") }
        top.state = .single
        return top.id
    }
    func openOptional() {
        let node = plan.nodes[Int(top.node)]
        guard node.kind == .optional else { return }
        top.optional = writer.beginArray(elementAlignment: Int(plan.nodes[Int(node.first)].alignment))
        top.node = node.first
    }

    // MARK: What is refused, where Codable lets nobody throw

    /// A container to which every write fails.
    @inline(never) func refused<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(WireKeyedEncoding<Key>(refused: self))
    }
    private func refuse(_ reason: String) -> Bool {
        _ = problem(reason)
        return false
    }
    private func refusal(_ reason: String) -> UInt64 {
        _ = problem(reason)
        return Self.refused
    }
    func refuseNested(_ id: UInt64) -> UInt64 {
        if top.id == id { _ = problem("it nests containers by hand; declare a structure or an array instead") }
        return Self.refused
    }
    func refuseSuper(_ id: UInt64) -> any Encoder {
        if top.id == id { _ = problem("class inheritance has no D-Bus form") }
        return WireEncoding.refused(self)
    }
}
