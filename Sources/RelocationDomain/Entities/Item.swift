/// A thing that is relocated. It is in exactly one box.
public struct Item: Hashable, Sendable {
    public let id: Int64
    public let title: Title
    public let boxID: Int64

    public init(id: Int64, title: Title, boxID: Int64) {
        (self.id, self.title, self.boxID) = (id, title, boxID)
    }
}
