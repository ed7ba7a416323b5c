@_spi(Relay) import RelayEvents
import Synchronization

/// The bounded queue of one positioned subscription: pages, signals and gaps in their order, not yet decoded.
///
/// The loop's thread fills it, the consumer takes one event after the other. It holds at most two pages (the one that
/// is being taken, and the next), and about as many signals as the subscription's buffer allows.
final class ReplayBuffer: Sendable {
    enum Item {
        case event(ReplayPage, Int)
        case gap(Gap)
        /// The replay has come to where the stream stood when it began.
        case caughtUp
    }
    /// Where an event or a gap leaves the subscription.
    struct Place: Hashable {
        let epoch: UInt64
        let sequence: UInt64
    }
    /// What the filling side waits for.
    struct Room: OptionSet {
        let rawValue: UInt8
        /// Another page may be asked for.
        static let page = Self(rawValue: 1)
        /// Half of the signals were taken.
        static let signals = Self(rawValue: 2)
    }
    typealias Waiter = UnsafeContinuation<Void, Never>

    /// Under the lock. What it does is in a file of its own.
    struct State {
        enum Chunk {
            case page(ReplayPage)
            case gaps(CoalescedGaps)
            case caughtUp
        }
        var chunks = Deque<Chunk>()
        /// What is being taken.
        var page: ReplayPage?
        var index = 0
        var run: CoalescedGaps?
        /// What overflow took from the front.
        var lost: CoalescedGaps?
        /// Overflow took the mark.
        var owesCaughtUp = false
        /// What overflow took was delivered, and since then there was always a signal: as a `DeliveryQueue` has it.
        var isBehind = false
        /// The consumer holds unreadable events, which may become a longer gap.
        var isHeld = false
        var queuedPages = 0
        var liveEvents = 0
        /// With fewer signals it takes another one: the buffer's limit, or less while the newest are dropped.
        var bound: Int
        var missed = 0
        /// Nothing more comes.
        var isFinished = false
        var isCancelled = false
        var awaited: Room = []
        /// The consumer found nothing, and waits for `onNews`.
        var isIdle = true
        /// A consumer has asked before.
        var hasAsked = false
        /// The consumer waited, was notified, and has not come yet.
        var isWoken = false
        var waiters: [(id: UInt64, continuation: Waiter)] = []
        var lastID: UInt64 = 0
        var onNews: @Sendable () -> Void = {}
        var onRoom: @Sendable (Room) -> Void = { _ in }
    }
    private let state: Mutex<State>
    /// Its consumer is a handler, which takes everything as it comes.
    let isHandled = Atomic(false)
    /// Of a followed state, what its consumer is about.
    let followed = Atomic(SnapshotPhase.none)
    /// As in the state, for code that asks about every event.
    private let hasCancelled = Atomic(false)
    private let buffer: EventBuffer
    private let drops: DropCounts

    init(_ buffer: EventBuffer, _ drops: DropCounts = DropCounts()) {
        (self.buffer, self.drops) = (buffer, drops)
        state = Mutex(State(bound: buffer.limit))
    }

    // MARK: The loop's side

    /// `onRoom` comes on the consumer's thread, once for what was awaited.
    func onRoom(_ body: @escaping @Sendable (Room) -> Void) { state.withLock { $0.onRoom = body } }

    /// Whether another page may be asked for. If not, `onRoom` is called when it may.
    func wantsPage() -> Bool {
        state.withLock { state in
            // One for which a consumer was woken is as good as taken: the next comes while it is being taken.
            if state.queuedPages == 0 || state.queuedPages == 1 && state.isWoken { return true }
            state.awaited.insert(.page)
            return false
        }
    }
    /// Whether there is room for another signal. If not, and `isDurable`, `onRoom` is called when half of them were
    /// taken.
    func wantsSignal(isDurable: Bool) -> Bool {
        state.withLock { state in
            if state.liveEvents < buffer.limit || !isDurable { return true }
            state.awaited.insert(.signals)
            return false
        }
    }
    /// The consumer has taken everything, and waits for more.
    var isWaiting: Bool {
        state.withLock { $0.queuedPages == 0 && (!$0.waiters.isEmpty || $0.isIdle && $0.hasAsked) }
    }
    func append(_ page: ReplayPage) {
        if page.entries.isEmpty { return }
        fill { state in
            state.queuedPages += 1
            state.chunks.append(.page(page))
        }
    }
    /// Accepts a signal even if it is one too many: what waited for an answer comes all at once, and is bounded
    /// elsewhere.
    func append(live page: ReplayPage, isDurable: Bool) {
        fill { state in
            if state.liveEvents == 0 { state.isBehind = false }
            if !isDurable, state.liveEvents >= state.bound {
                let count = state.isBehind && buffer.overflow == .dropOldest ? buffer.share : 1
                state.missed = Gap.sum(state.missed, count) ?? .max
                drops.countOverflow(count)
                switch buffer.overflow {
                case .dropOldest: for _ in 0..<count { state.dropOldestSignal() }
                case .dropNewest:
                    state.bound = buffer.boundWhileDropping
                    return state.append(CoalescedGaps(page.stamp(0)))
                case .end:
                    state.append(CoalescedGaps(page.stamp(0)))
                    state.isFinished = true
                    return
                }
            }
            state.bound = buffer.limit
            state.liveEvents += 1
            state.chunks.append(.page(page))
        }
    }
    func append(_ gap: Gap) {
        fill { state in
            state.missed = Gap.sum(state.missed, gap.count ?? 1) ?? .max
            state.append(CoalescedGaps(gap))
        }
    }
    func appendCaughtUp() { fill { $0.chunks.append(.caughtUp) } }
    /// Nothing more comes; what there is can still be taken.
    func finish() {
        let news = state.withLock { state in
            state.isFinished = true
            return state.takeNews()
        }
        news()
    }
    private func fill(_ body: (inout State) -> Void) {
        let news = state.withLock { state -> (() -> Void)? in
            if state.isFinished || state.isCancelled { return nil }
            body(&state)
            return state.takeNews()
        }
        news?()
    }

    // MARK: The consumer's side

    /// `onNews` comes on the filling side's thread, once after `next` had nothing.
    func onNews(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onNews = body } }

    /// Several events in a row that come next, of which the first is the page's one at `index`; nil: `next` has what
    /// comes. They are taken by `take`.
    func batch() -> (page: ReplayPage, index: Int)? {
        let (batch, after) = state.withLock { state -> ((page: ReplayPage, index: Int)?, (() -> Void)?) in
            guard let batch = state.batch() else { return (nil, nil) }
            return (batch, findRoom(&state))
        }
        after?()
        return batch
    }
    /// The events of a batch up to here were delivered.
    func take(_ page: ReplayPage, through index: Int) {
        state.withLock { state in
            if state.page === page { state.index = max(state.index, index) }
        }
    }
    /// The next event or gap; nil: nothing now, or nothing any more.
    func next() -> Item? {
        let (item, after) = state.withLock { state -> (Item?, (() -> Void)?) in
            guard let item = state.take() else {
                (state.isIdle, state.hasAsked) = (true, true)
                return (nil, nil)
            }
            return (item, findRoom(&state))
        }
        after?()
        return item
    }
    /// After something was taken: what to call once the lock is released.
    private func findRoom(_ state: inout State) -> (() -> Void)? {
        state.isWoken = false
        var room = state.awaited
        if state.queuedPages > 0 { room.remove(.page) }
        if state.liveEvents > buffer.limit / 2 { room.remove(.signals) }
        state.awaited.subtract(room)
        let others = !state.waiters.isEmpty && state.hasItems ? state.takeWaiters() : []
        if room.isEmpty && others.isEmpty { return nil }
        let onRoom = state.onRoom
        return {
            if !room.isEmpty { onRoom(room) }
            for waiter in others { waiter.continuation.resume() }
        }
    }
    /// Whether everything was dropped: nothing more is delivered.
    var isCancelled: Bool { hasCancelled.load(ordering: .acquiring) }
    /// Waits for news; false when there can be none any more, or the task was cancelled.
    func wait(isolation: isolated (any Actor)?) async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if Task.isCancelled || state.hasItems || state.isOver || state.isHeld && state.isFinished {
                        return true
                    }
                    state.waiters.append((id, continuation))
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume()
        }
        return !Task.isCancelled && !isOver
    }
    /// Nothing comes any more; something may be left.
    var isFinished: Bool { state.withLock { $0.isFinished || $0.isCancelled } }
    /// Nothing comes, and nothing is left.
    var isOver: Bool { state.withLock { $0.isOver } }
    /// Events in gaps so far; a gap that has no count counts as one.
    var missed: Int { state.withLock { $0.missed } }
    /// Nothing more is filled in: what a consumer holds back need not wait for more.
    var isClosing: Bool { state.withLock { $0.isFinished || $0.isCancelled } }
    /// Whether the consumer holds something back: then this is not over before that was delivered.
    func setHeld(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }
    /// Counts an event that turned out to be unreadable.
    func noteMissed() {
        state.withLock { $0.missed = Gap.sum($0.missed, 1) ?? .max }
        drops.countUnreadable()
    }

    /// Drops everything. No item is given any more.
    func cancel() {
        hasCancelled.store(true, ordering: .releasing)
        let (waiters, held) = state.withLock { state in
            let held = (state.chunks, state.page)
            (state.chunks, state.page, state.run, state.lost) = (Deque(), nil, nil, nil)
            (state.isCancelled, state.onNews, state.onRoom) = (true, {}, { _ in })
            return (state.takeWaiters(), held)
        }
        for waiter in waiters { waiter.continuation.resume() }
        withExtendedLifetime(held) {}
    }
    /// A handler has taken everything, and the last call has returned. What a loop takes from is that loop's matter.
    var isSettled: Bool {
        switch followed.load(ordering: .relaxed) {
        case .following: return state.withLock { $0.isOver || !$0.waiters.isEmpty }
        case .unreachable, .failing: return true
        case .none: break
        }
        return !isHandled.load(ordering: .relaxed) || state.withLock { $0.isOver || $0.isIdle && !$0.hasItems }
    }
    /// For tests: how many pages and signals are held.
    var held: (pages: Int, signals: Int) {
        state.withLock { state in
            let inHand = state.page.map { $0.isLive ? 0 : 1 } ?? 0
            return (state.queuedPages + inHand, state.liveEvents)
        }
    }
}
