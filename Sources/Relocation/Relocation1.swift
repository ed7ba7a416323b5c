public import RelayCore

/// The reference contract, version 1: boxes, the items in them, and what happens to both.
///
/// A value is any of its events, so that one subscription receives all of them in their order.
public enum Relocation1: EnumInterface, Equatable {
    case boxProvisioned(BoxProvisioned)
    case boxRemoved(BoxRemoved)
    case boxRemovalFailed(BoxRemovalFailed)
    case boxItemsRedistributionFailed(BoxItemsRedistributionFailed)
    case itemProvisioned(ItemProvisioned)
    case itemMoved(ItemMoved)
    case itemDistributionFailed(ItemDistributionFailed)
    case itemRemoved(ItemRemoved)
    case itemRemovalFailed(ItemRemovalFailed)

    public static let name = "org.eventrelay.Relocation1"
    /// Whom the service admits (`relay-service --admit`): on the system's bus, whom its policy does
    /// (Packaging/dbus-1/system.d).
    public static let requirement = PeerRequirement.anyone
    public static let about: About = "Boxes for a move, the items in them, and what happens to both."
    public static var contract: Contract<Self> {
        boxProvisioned
        boxRemoved
        boxRemovalFailed
        boxItemsRedistributionFailed
        itemProvisioned
        itemMoved
        itemDistributionFailed
        itemRemoved
        itemRemovalFailed
        OrderBox.self
        DistributeItem.self
        RemoveBox.self
        RemoveItem.self
        Contents.self
    }

    /// The event itself.
    public var event: any RelocationEvent {
        switch self {
        case .boxProvisioned(let event): event
        case .boxRemoved(let event): event
        case .boxRemovalFailed(let event): event
        case .boxItemsRedistributionFailed(let event): event
        case .itemProvisioned(let event): event
        case .itemMoved(let event): event
        case .itemDistributionFailed(let event): event
        case .itemRemoved(let event): event
        case .itemRemovalFailed(let event): event
        }
    }
}

/// An event of `Relocation1`.
public nonisolated protocol RelocationEvent: DomainEvent, Equatable where Interface == Relocation1 {}

/// A command of `Relocation1`.
public nonisolated protocol RelocationCommand: Command where Interface == Relocation1 {}
