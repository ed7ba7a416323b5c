import Synchronization

/// What subscriptions have dropped, for metrics: counted where it is dropped, on any thread.
package final class DropCounts: Sendable {
    /// Events for which a buffer had no room.
    private let overflow = Atomic<Int>(0)
    /// Events that could not be decoded.
    private let mismatch = Atomic<Int>(0)

    package init() {}
    package var overflowed: Int { overflow.load(ordering: .relaxed) }
    package var unreadable: Int { mismatch.load(ordering: .relaxed) }

    package func countOverflow(_ count: Int) { overflow.wrappingAdd(count, ordering: .relaxed) }
    package func countUnreadable() { mismatch.wrappingAdd(1, ordering: .relaxed) }
}
