import CRelayShims
import Synchronization

/// Wakes the sleeping readers of a service's rings.
///
/// Up to four sleepers are woken by the publishing thread; more are handed to a thread of the waker's own: each call
/// takes microseconds. So are those that were woken a moment ago, and those whose pages only repeat the request.
///
/// Four, since the way through a thread takes as long as waking so many; and since some may only pretend to sleep: for
/// their sake the others are not to wait until the waker's thread has a processor.
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

/// What a `RingWaker` and its thread share.
final class WakerCore: Sendable {
    private struct State {
        /// Claimed by the thread that passed them on, to be woken when they are due.
        var kept: [WaitPage] = []
        var groups: [WakeGroup] = []
        var isStopped = false
        var hasThread = false
        /// The thread sleeps until it is woken, not until a page is due.
        var isIdle = false
    }
    private let state = PublishingLock(State())
    /// Counts the calls for the thread: its futex.
    nonisolated(unsafe) private let calls: UnsafeMutableRawPointer  // Only by atomic operations.

    init() {
        calls = .allocate(byteCount: 4, alignment: 4)
        calls.storeBytes(of: 0, as: UInt32.self)
    }
    deinit { calls.deallocate() }

    /// Wakes a group's sleepers as soon as it can.
    func call(for group: WakeGroup) {
        let hasThread = state.withLock { state in
            state.groups.append(group)
            return ensureThread(&state)
        }
        if hasThread { call() } else { wakeHere() }
    }
    /// Takes over a page that the caller claimed. Not urgent: it is not due yet, and the thread sleeps no longer than
    /// that.
    func keep(_ page: WaitPage) {
        let (hasThread, isIdle) = state.withLock { state in
            state.kept.append(page)
            return (ensureThread(&state), state.isIdle)
        }
        if !hasThread { wakeHere() } else if isIdle { call() }
    }
    func stop() {
        state.withLock { $0.isStopped = true }
        call()
    }

    private func call() {
        relay_increment32(calls)
        _ = relay_futex_wake(calls, 1)
    }
    private func ensureThread(_ state: inout State) -> Bool {
        if !state.hasThread { state.hasThread = startThread() }
        return state.hasThread
    }
    /// No thread to be had: now is better than never.
    private func wakeHere() {
        let (kept, groups) = take()
        for page in kept + groups.flatMap({ $0.flagged() }) { page.wake(at: MonotonicClock.now) }
    }
    private func take() -> ([WaitPage], [WakeGroup]) {
        state.withLock { state in
            defer { (state.kept, state.groups) = ([], []) }
            return (state.kept, state.groups)
        }
    }
    private func startThread() -> Bool {
        (try? OwnThread.start("relay-waker") { self.run() }) != nil
    }
    private func run() {
        // A page is due 50 µs after it was woken: as much again would be too late.
        relay_keep_time_exactly()
        var waiting: [WaitPage] = []
        while true {
            // Before the look at what was handed over: a call that comes after it ends the sleep below.
            let seen = relay_load32(calls)
            relay_fence_full()
            let (kept, groups) = take()
            waiting += kept
            for page in groups.flatMap({ $0.flagged() }) where page.claim() {
                let now = MonotonicClock.now
                if page.due > now { waiting.append(page) } else { page.wake(at: now) }
            }
            let now = MonotonicClock.now
            var next = UInt64.max
            waiting.removeAll { page in
                if page.due > now {
                    next = min(next, page.due)
                    return false
                }
                page.wake(at: now)
                return true
            }
            let isDone = state.withLock { state in
                let hasMore = !state.kept.isEmpty || !state.groups.isEmpty
                state.isIdle = waiting.isEmpty && !hasMore
                if hasMore { next = 0 }
                return state.isStopped
            }
            if isDone { return }
            if next > now {
                // Woken by a call; an hour is as good as for ever.
                _ = relay_futex_wait(calls, seen, min(next - now, 3_600_000_000_000))
            }
        }
    }
}

/// The wait pages of one ring's sleepers.
final class WakeGroup: Sendable {
    private let pages = PublishingLock<[WaitPage]>([])
    /// The waker's thread was called for them and has not looked yet.
    private let isCalled = Atomic(false)
    private let waker: RingWaker

    init(_ waker: RingWaker) { self.waker = waker }
    func wake() { waker.wake(self) }

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
        // Before the check: a thread that finds it called relies on a later check.
        isCalled.store(false, ordering: .sequentiallyConsistent)
        relay_fence_full()
        return pages.withLock { $0.filter { $0.isFlagged } }
    }
}
