import CRelayShims
import Synchronization

/// The wait pages of one ring's sleepers.
final class WakeGroup: Sendable {
    private let pages = Mutex<[WaitPage]>([])
    /// The waker's thread was called for them and has not looked yet.
    private let isCalled = Atomic(false)

    /// False when it was in already.
    func add(_ page: WaitPage) -> Bool {
        pages.withLock { pages in
            if pages.contains(where: { $0 === page }) { return false }
            pages.append(page)
            return true
        }
    }
    func remove(_ page: WaitPage) { pages.withLock { $0.removeAll { $0 === page } } }

    enum Candidates {
        case none, many
        case few([WaitPage])
    }
    /// How many are few.
    private static var few: Int { 4 }
    /// Those that are flagged and nobody's affair yet.
    func candidates() -> Candidates {
        pages.withLock { pages in
            var found: [WaitPage] = []
            for page in pages where page.isFlagged && !page.isTaken {
                if found.count == Self.few { return .many }
                found.append(page)
            }
            return found.isEmpty ? .none : .few(found)
        }
    }
    /// Whether the thread must be called.
    func call() -> Bool { !isCalled.exchange(true, ordering: .sequentiallyConsistent) }
    /// Those that are flagged now.
    func flagged() -> [WaitPage] {
        // Before the look: who finds it called relies on a look that comes after.
        isCalled.store(false, ordering: .sequentiallyConsistent)
        relay_fence_full()
        return pages.withLock { $0.filter { $0.isFlagged } }
    }
}
