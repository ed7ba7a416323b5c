import Glibc
import Synchronization

/// Holds the next thread that comes, which must not be the cooperative pool's.
final class Held: Sendable {
    private let isArmed: Atomic<Bool>
    private let isReleased = Atomic<Bool>(false)
    private let hasCome = Atomic<Bool>(false)

    init(isArmed: Bool = true) { self.isArmed = Atomic(isArmed) }
    func arm() { isArmed.store(true, ordering: .releasing) }
    var isHeld: Bool { hasCome.load(ordering: .acquiring) }
    func release() { isReleased.store(true, ordering: .releasing) }
    func wait() {
        if !isArmed.exchange(false, ordering: .acquiring) { return }
        hasCome.store(true, ordering: .releasing)
        while !isReleased.load(ordering: .acquiring) { usleep(1_000) }
    }
}
