public import Relocation

/// The application layer: a method a command, each a unit of work on the store.
///
/// A refusal throws the command's `Failure` and changes nothing. Where the contract has an event for it, that event is published
/// by a unit of its own, after the rollback and before the refusal is thrown:
///
/// | refusal | events, in order |
/// | --- | --- |
/// | `DistributeItem`: `noRoom` | `ItemDistributionFailed` |
/// | `RemoveBox`: `unknownBox` | `BoxRemovalFailed` |
/// | `RemoveBox`: `noRoomElsewhere` | `BoxItemsRedistributionFailed`, `BoxRemovalFailed` |
/// | `RemoveItem`: `unknownItem`, `unknownBox`, `notInBox` | `ItemRemovalFailed` |
/// | `OrderBox`: all; `DistributeItem`: `invalidTitle` | none: nothing was attempted, and only the caller can mend it |
///
/// Any other error is the store's. It is rethrown as it is, with no event: what failed is then not the domain's to tell.
/// An error of the unit that publishes failure events takes the place of the refusal. Methods may be called from any isolation.
public struct RelocationCommands<Store: RelocationStore>: Sendable {
    private let store: Store
    public init(store: Store) { self.store = store }

    /// Throws `OrderBox.Failure`, or the store's error.
    public func handle(_ command: OrderBox) async throws -> OrderBox.Reply {
        OrderBox.Reply(boxID: try await store.perform(Ordering(command)).id)
    }

    /// Throws `DistributeItem.Failure`, or the store's error.
    public func handle(_ command: DistributeItem) async throws -> DistributeItem.Reply {
        let item = try await perform(Distribution(command)) { (failure: DistributeItem.Failure) in
            switch failure {
            case .invalidTitle: []
            case .noRoom: [ItemDistributionFailed(itemTitle: command.title)]
            }
        }
        return DistributeItem.Reply(itemID: item.id, boxID: item.boxID)
    }

    /// Throws `RemoveBox.Failure`, or the store's error.
    public func handle(_ command: RemoveBox) async throws {
        try await perform(BoxRemoval(command)) { (failure: RemoveBox.Failure) in
            let failed = BoxRemovalFailed(boxID: command.boxID, reason: failure.message)
            return switch failure {
            case .unknownBox: [failed]
            case .noRoomElsewhere: [BoxItemsRedistributionFailed(boxID: command.boxID), failed]
            }
        }
    }

    /// Throws `RemoveItem.Failure`, or the store's error.
    public func handle(_ command: RemoveItem) async throws {
        try await perform(ItemRemoval(command)) { (_: RemoveItem.Failure) in
            [ItemRemovalFailed(itemID: command.itemID, boxID: command.boxID)]
        }
    }

    /// Throws the store's error only.
    public func handle(_ command: Contents) async throws -> Contents.Reply {
        try await store.perform(StockTaking())
    }

    /// Runs `work`; reports a refusal of type `Failure` by `events` before it is rethrown.
    private func perform<Work: RelocationWork, Failure: Error>(
        _ work: Work, reporting events: (Failure) -> [any RelocationEvent]
    ) async throws -> Work.Outcome {
        do {
            return try await store.perform(work)
        } catch let failure as Failure {
            let events = events(failure)
            if !events.isEmpty { try await store.perform(FailureReport(events)) }
            throw failure
        }
    }
}
