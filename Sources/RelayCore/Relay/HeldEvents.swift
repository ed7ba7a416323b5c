/// Events that came before their turn, in the order in which they came, up to a bound.
struct HeldEvents<Payload> {
    struct Element {
        let name: String
        let sequence: UInt64
        let previous: UInt64
        let payload: Payload
    }
    static var countLimit: Int { 1_024 }
    /// In bytes, together.
    static var costLimit: Int { 16 << 20 }

    private(set) var elements: [Element] = []
    private var cost = 0

    var isFull: Bool { elements.count >= Self.countLimit }

    /// False, and without effect, when there is no room.
    mutating func append(_ element: Element, cost: Int) -> Bool {
        let (sum, isOver) = self.cost.addingReportingOverflow(max(0, cost))
        if isFull || isOver || sum > Self.costLimit { return false }
        self.cost = sum
        elements.append(element)
        return true
    }
    /// The first ones were taken. What the rest costs is not looked at again: the bound is an upper one.
    mutating func removeFirst(_ count: Int) {
        elements.removeFirst(count)
        if elements.isEmpty { cost = 0 }
    }
    mutating func removeAll() { (elements, cost) = ([], 0) }
}
