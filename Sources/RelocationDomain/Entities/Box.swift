/// A box in which items travel.
public struct Box: Hashable, Sendable {
    public let id: Int64
    public let title: Title
    public let capacity: BoxCapacity

    public init(id: Int64, title: Title, capacity: BoxCapacity) {
        (self.id, self.title, self.capacity) = (id, title, capacity)
    }
}
