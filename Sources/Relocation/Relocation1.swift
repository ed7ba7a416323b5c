public import RelayCore

/// The reference contract, version 1: boxes, the items in them, and what happens to both.
public enum Relocation1: EventInterface {
    public static let name = "org.eventrelay.Relocation1"
    public static var contract: Contract<Self> {
        BoxProvisioned.self
        BoxRemoved.self
        BoxRemovalFailed.self
        BoxItemsRedistributionFailed.self
        ItemProvisioned.self
        ItemMoved.self
        ItemDistributionFailed.self
        ItemRemoved.self
        ItemRemovalFailed.self
        OrderBox.self
        DistributeItem.self
        RemoveBox.self
        RemoveItem.self
        Contents.self
    }
}
