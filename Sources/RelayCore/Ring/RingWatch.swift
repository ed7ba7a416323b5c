import CRelayShims
import Synchronization

/// What any thread may look at of a ring: whether there is something to read for the one that has the reader.
package final class RingWatch: Sendable {
    /// Keeps the memory.
    private let area: RingArea
    nonisolated(unsafe) private let tail: UnsafeRawPointer  // Only by relay_load_acquire.
    nonisolated(unsafe) private let end: UnsafeRawPointer  // Only by relay_load_acquire.
    private let handled = Atomic<UInt64>(0)
    private let leeway = Atomic<UInt64>(0)
    private let hasEnded = Atomic<Bool>(false)

    package init(_ area: RingArea) {
        self.area = area
        (tail, end) = (UnsafeRawPointer(area.tail), UnsafeRawPointer(area.end))
    }
    /// More is written than what has been read and the leeway; or the ring has ended, and that was not read.
    @inline(__always) package var hasNews: Bool {
        let ahead = relay_load_acquire(tail) &- handled.load(ordering: .relaxed)
        if ahead == 0 { return relay_load_acquire(end) != 0 && !hasEnded.load(ordering: .relaxed) && !isParked }
        return ahead > leeway.load(ordering: .relaxed)
    }
    private var isParked: Bool { leeway.load(ordering: .relaxed) > 0 }

    // MARK: Who has the reader

    /// Everything before this position was read.
    @inline(__always) package func read(to position: UInt64) { handled.store(position, ordering: .relaxed) }
    package func readEnd() { hasEnded.store(true, ordering: .relaxed) }
    /// How far the writer may be ahead before that is news; 0: not at all.
    package func park(_ bytes: UInt64) { leeway.store(bytes, ordering: .relaxed) }
}
