/// Where boxes and items are kept: runs units of work, one after the other.
public protocol RelocationStore: Sendable {
    /// Runs `work` as one transaction: commits its state changes, then publishes its events in order, and returns after both.
    ///
    /// Events of different units are published in the order of their commits. What `work` throws rolls back everything, and is rethrown.
    func perform<Work: RelocationWork>(_ work: Work) async throws -> Work.Outcome
}
