/// Events that came before their turn, in the order in which they came, up to a bound.
struct HoldbackQueue<Payload> {
    struct Element {
        let name: String
        let sequence: UInt64
        let previous: UInt64
        let payload: Payload
    }
    let countLimit: Int
    /// In bytes, together.
    let costLimit: Int
    private(set) var elements: [Element] = []
    private var cost = 0

    init(countLimit: Int, costLimit: Int) { (self.countLimit, self.costLimit) = (countLimit, costLimit) }
    var isFull: Bool { elements.count >= countLimit }

    /// False, and without effect, when there is no room.
    mutating func append(_ element: Element, cost: Int) -> Bool {
        let (sum, isOver) = self.cost.addingReportingOverflow(max(0, cost))
        if isFull || isOver || sum > costLimit { return false }
        self.cost = sum
        elements.append(element)
        return true
    }
    /// The first ones were taken. The cost of the rest is not computed again: the bound is an upper one.
    mutating func removeFirst(_ count: Int) {
        elements.removeFirst(count)
        if elements.isEmpty { cost = 0 }
    }
    mutating func removeAll() { (elements, cost) = ([], 0) }
}

extension HoldbackQueue.Element: Equatable where Payload: Equatable {}
extension HoldbackQueue.Element: Hashable where Payload: Hashable {}
extension HoldbackQueue: Equatable where Payload: Equatable {}
extension HoldbackQueue: Hashable where Payload: Hashable {}
