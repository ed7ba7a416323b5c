/// Wakes the sleeping readers of a service's rings.
///
/// Up to four sleepers are woken by the publishing thread; more are handed to a thread of the waker's own: each call takes
/// microseconds. So are those that were woken a moment ago, and those whose pages only say so again and again.
///
/// Four, since the way through a thread takes as long as waking so many; and since some may only pretend to sleep: for their sake
/// the others are not to wait until the waker's thread has a processor.
package final class RingWaker: Sendable {
    private let core = WakerCore()
    package init() {}
    deinit { core.stop() }

    /// Wakes those of a ring that sleep. A look at a few flags, and at most four system calls.
    func wake(_ group: WakeGroup) {
        switch group.candidates() {
        case .none: break
        case .few(let pages): for page in pages { wake(page) }
        case .many: if group.call() { core.call(for: group) }
        }
    }
    func wake(_ page: WaitPage) {
        let now = MonotonicClock.now
        if page.due <= now { page.wake(at: now) } else if page.claim() { core.keep(page) }
    }
}
