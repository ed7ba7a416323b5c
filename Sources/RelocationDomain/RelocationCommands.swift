public import Relocation

/// The application layer: a method a command, each a unit of work on the store but `Contents`, which only reads.
///
/// A refusal throws the command's `Refusal` and changes nothing. Where the contract has an event for it, that event is
/// published in the unit's own transaction, after its changes were undone and before the refusal is thrown:
///
/// | refusal | events, in order |
/// | --- | --- |
/// | `DistributeItem`: `noRoom` | `ItemDistributionFailed` |
/// | `RemoveBox`: `unknownBox` | `BoxRemovalFailed` |
/// | `RemoveBox`: `noRoomElsewhere` | `BoxItemsRedistributionFailed`, `BoxRemovalFailed` |
/// | `RemoveItem`: `unknownItem`, `unknownBox`, `notInBox` | `ItemRemovalFailed` |
/// | `OrderBox`: all; `DistributeItem`: `invalidTitle` | none: nothing was attempted, and only the caller can mend it |
///
/// Any other error is the store's. It is rethrown as it is, with no event; so is an error of the transaction that
/// publishes a refusal's events, in place of the refusal. Methods may be called from any isolation.
public struct RelocationCommands<Store: RelocationStore>: Sendable {
    private let store: Store
    public init(store: Store) { self.store = store }

    /// Throws `OrderBox.Refusal`, or the store's error.
    public func handle(_ command: OrderBox) async throws -> OrderBox.Reply {
        OrderBox.Reply(boxID: try await store.perform(Ordering(command)).id)
    }
    /// Throws `DistributeItem.Refusal`, or the store's error.
    public func handle(_ command: DistributeItem) async throws -> DistributeItem.Reply {
        let item = try await store.perform(Distribution(command))
        return DistributeItem.Reply(itemID: item.id, boxID: item.boxID)
    }
    /// Throws `RemoveBox.Refusal`, or the store's error.
    public func handle(_ command: RemoveBox) async throws {
        try await store.perform(BoxRemoval(command))
    }
    /// Throws `RemoveItem.Refusal`, or the store's error.
    public func handle(_ command: RemoveItem) async throws {
        try await store.perform(ItemRemoval(command))
    }
    /// Throws the store's error only.
    public func handle(_ command: Contents) async throws -> Contents.Reply {
        let page = StockTaking(command)
        return page.reply(try await store.stock(after: page.place, count: page.count))
    }
}
