/// A box as distribution sees it: what it holds, and what it could hold.
public struct BoxLoad: Hashable, Sendable {
    public let boxID: Int64
    public let capacity: BoxCapacity
    public var itemCount: Int

    public init(boxID: Int64, capacity: BoxCapacity, itemCount: Int) {
        (self.boxID, self.capacity, self.itemCount) = (boxID, capacity, itemCount)
    }

    /// How many more items fit; never negative.
    public var room: Int { max(0, capacity.itemCount - max(0, itemCount)) }
}
