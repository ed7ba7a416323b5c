import Glibc
import Synchronization

/// Holds a thread, which must not be the cooperative pool's.
final class Held: Sendable {
    private let isReleased = Atomic<Bool>(false)
    private let hasCome = Atomic<Bool>(false)
    var isHeld: Bool { hasCome.load(ordering: .acquiring) }
    func release() { isReleased.store(true, ordering: .releasing) }
    func wait() {
        hasCome.store(true, ordering: .releasing)
        while !isReleased.load(ordering: .acquiring) { usleep(1_000) }
    }
}
