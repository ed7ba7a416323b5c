public import RelayCore

/// Asks for all boxes with their items: a query, which changes nothing and cannot be refused.
public struct Contents: RelocationCommand {
    public init() {}

    public struct Reply: Codable, Hashable, Sendable {
        /// By rising id.
        public let boxes: [Box]
        public init(boxes: [Box]) { self.boxes = boxes }
    }

    public struct Box: Codable, Hashable, Sendable {
        public let boxID: Int64
        public let capacity: Int32
        public let title: String
        /// By rising id.
        public let items: [Item]

        public init(boxID: Int64, capacity: Int32, title: String, items: [Item]) {
            (self.boxID, self.capacity, self.title, self.items) = (boxID, capacity, title, items)
        }
    }

    public struct Item: Codable, Hashable, Sendable {
        public let itemID: Int64
        public let title: String
        public init(itemID: Int64, title: String) { (self.itemID, self.title) = (itemID, title) }
    }
}
