/// The keyed containers of a coder, by the plan's nodes: lent to one value, given back, and lent to the next one.
///
/// A container refers to its coder without counting. One that a value has kept is lent to no other, and the coder then
/// stays for as long as the process does.
struct LentContainers: ~Copyable {
    /// Counted by hand: each value asks for them several times.
    private let byNode: UnsafeMutableBufferPointer<Unmanaged<WireContainers>?>
    /// A value has kept one.
    private var isKept = false

    init(_ plan: WirePlan) {
        byNode = .allocate(capacity: plan.nodes.count)
        byNode.initialize(repeating: nil)
    }
    deinit {
        for containers in byNode { containers?.release() }
        byNode.deallocate()
    }
    /// Those of a node, if they serve the value of this id.
    @inline(__always) func own(_ node: Int32, _ id: UInt64) -> Unmanaged<WireContainers>? {
        guard let found = byNode[Int(node)], found._withUnsafeGuaranteedRef({ $0.id }) == id else { return nil }
        return found
    }
    /// Those that serve the value of this id.
    @inline(__always) mutating func lent(
        _ node: Int32, _ id: UInt64, of coder: AnyObject
    ) -> Unmanaged<WireContainers> {
        // Or it has asked for one without names before, whose id is then theirs.
        own(node, id) ?? lendNew(node, id: id, isMixed: true, of: coder)
    }
    /// Lends those of a node to another value. Returns the id that is then the value's: theirs, or a new one.
    @inline(__always) mutating func lend(
        _ node: Int32, of coder: AnyObject, else newID: @autoclosure () -> UInt64
    ) -> UInt64 {
        if let id = lendAgain(node) { return id }
        let id = newID()
        _ = lendNew(node, id: id, isMixed: false, of: coder)
        return id
    }
    /// Nil: they are lent, or there are none.
    @inline(__always) private func lendAgain(_ node: Int32) -> UInt64? {
        guard let found = byNode[Int(node)] else { return nil }
        return found._withUnsafeGuaranteedRef { found in
            if found.isLent { return nil }
            found.isLent = true
            return found.id
        }
    }
    /// - Parameter isMixed: the value has another container of this id.
    @inline(never) private mutating func lendNew(
        _ node: Int32, id: UInt64, isMixed: Bool, of coder: AnyObject
    ) -> Unmanaged<WireContainers> {
        drop(node, of: coder)
        let new = Unmanaged.passRetained(WireContainers(id: id, isMixed: isMixed))
        byNode[Int(node)] = new
        return new
    }
    /// The value of this id is over.
    @inline(__always) mutating func giveBack(_ node: Int32, _ id: UInt64, of coder: AnyObject) {
        guard let lent = own(node, id) else { return }
        let isSound = lent._withUnsafeGuaranteedRef { lent in
            lent.isLent = false
            return !lent.isMixed && lent.areAlone
        }
        if !isSound { drop(node, of: coder) }
    }
    @inline(never) private mutating func drop(_ node: Int32, of coder: AnyObject) {
        guard let dropped = byNode[Int(node)]?.takeRetainedValue() else { return }
        byNode[Int(node)] = nil
        if !dropped.areAlone { stay(coder) }
    }
    /// After an error: values that had containers may have kept them.
    mutating func abandon(of coder: AnyObject) {
        for node in byNode.indices { drop(Int32(node), of: coder) }
    }
    private mutating func stay(_ coder: AnyObject) {
        if isKept { return }
        isKept = true
        _ = Unmanaged.passRetained(coder)
    }
}
