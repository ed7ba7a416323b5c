import CRelayShims
import Synchronization

/// The leave to commit on a thread of the cooperative pool, for one at a time.
///
/// That thread is kept for one fsync: the pool must have another one.
package final class CommitPermit: Sendable {
    private let isTaken = Atomic<Bool>(false)

    package init() {}
    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiring) }
    func giveBack() { isTaken.store(false, ordering: .releasing) }

    /// All journals' of the process, as the pool is the process's; nil where the pool has one thread.
    package static let process = relay_usable_processors() > 1 ? CommitPermit() : nil
}
