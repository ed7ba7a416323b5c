/// Wakes the sleeping readers of a service's rings.
///
/// One sleeper is woken by the publishing thread; several are handed to a thread of the waker's own: each call takes
/// microseconds. So are those that were woken a moment ago, and those whose pages only say so again and again.
package final class RingWaker: Sendable {
    private let core = WakerCore()
    package init() {}
    deinit { core.stop() }

    /// Wakes those of a ring that sleep. A look at one or two flags, and at most one system call.
    func wake(_ group: WakeGroup) {
        guard let (page, isOnly) = group.candidate() else { return }
        if !isOnly {
            if group.call() { core.call(for: group) }
        } else {
            wake(page)
        }
    }
    func wake(_ page: WaitPage) {
        let now = MonotonicClock.now
        if page.due <= now { page.wake(at: now) } else if page.claim() { core.keep(page) }
    }
}
