public import RelayCore

/// What the boxes hold, version 1: a document for front ends that show the present state, and no events.
///
/// It has an interface of its own, since each of its entries is a whole state. So subscribers to `Relocation1` do not
/// receive them, and old ones need not be kept as long as events.
public enum Inventory1: EventInterface {
    public static let name = "org.eventrelay.Inventory1"
    /// Whom the service admits (`relay-service --admit`): on the system's bus, whom its policy does
    /// (Packaging/dbus-1/system.d).
    public static let requirement = PeerRequirement.anyone
    public static let about: About = "What the boxes of a move hold, as a document."
    public static let durability = Durable(retention: Retention(count: 64))
    public static let signalBudget = SignalBudget.perSecond(50, burst: 100)
    public static var contract: Contract<Self> { Inventory.self }
}

/// The boxes with their loads: those with the lowest ids, as many as fit a message however long their titles are.
public struct Inventory: DomainDocument, Hashable {
    public typealias Interface = Inventory1
    public static let about = About(
        "The boxes with their loads.",
        fields: [
            "boxes": "by rising id, at most 256", "boxes.capacity": .unit("items"), "boxes.itemCount": .unit("items"),
            "isWhole": "whether there are no other boxes; the pages of Contents have all",
        ])
    /// How many boxes it has at most.
    public static let longest = 256
    public static let initial = Self(boxes: [], isWhole: true)

    /// By rising id.
    public let boxes: [Load]
    /// Whether there are no other boxes.
    public let isWhole: Bool
    public init(boxes: [Load], isWhole: Bool) { (self.boxes, self.isWhole) = (boxes, isWhole) }

    public struct Load: Codable, Hashable, Sendable {
        public let boxID: Int64
        public let capacity: Int32
        public let itemCount: Int32
        public let title: String
        public init(boxID: Int64, capacity: Int32, itemCount: Int32, title: String) {
            (self.boxID, self.capacity, self.itemCount, self.title) = (boxID, capacity, itemCount, title)
        }
    }
}
