public import Relocation

/// Where boxes and items are kept: runs units of work, one after the other.
public protocol RelocationStore: Sendable {
    /// Runs `work` as one transaction: commits its state changes, then publishes its events in order, and returns after
    /// both.
    ///
    /// Events of different units are published in the order of their commits. What `work` throws rolls back everything,
    /// and is rethrown; if it is the work's `Refusal`, the events that report it are published first, in the same
    /// transaction.
    func perform<Work: RelocationWork>(_ work: Work) async throws -> Work.Outcome

    /// The boxes, then the items, with higher ids than `place` has, at most `count` of them together, as of one moment.
    ///
    /// Sees every unit of work that has returned. Holds up none, and costs no more than what it returns.
    func stock(after place: Contents.Place, count: Int) async throws -> Stock
}
