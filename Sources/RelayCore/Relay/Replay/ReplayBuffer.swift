@_spi(Relay) import RelayEvents
import Synchronization

/// The bounded queue of one positioned subscription: pages, signals and gaps in their order, not yet decoded.
///
/// The loop's thread fills it, the consumer takes one event after the other. It holds at most two pages (the one that
/// is being taken, and the next), and about as many signals as the subscription's buffer allows.
final class ReplayBuffer: Sendable {
    enum Item {
        case event(KeptEvents, Int)
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
    /// What is in the queue beside signals and gaps.
    enum Fixed: Sendable {
        case page(KeptEvents)
        case caughtUp
    }
    /// How the consumer is notified, once the lock is released.
    struct News: Sendable {
        let notification: QueueConsumer<Void>.Notification
        let call: @Sendable () -> Void
        func announce() { notification.run(call) }
    }

    /// Under the lock. What it does is in a file of its own.
    struct State: Sendable {
        /// Signals, gaps, and what is fixed among them.
        var queue: DeliveryQueue<KeptEvents, Fixed>
        let signalLimit: Int
        /// The page that is being taken.
        var page: KeptEvents?
        var index = 0
        /// Those that are in the queue.
        var queuedPages = 0
        /// The consumer holds unreadable events, which may become a longer gap.
        var isHeld = false
        var isCancelled = false
        var awaited: Room = []
        var consumer = QueueConsumer<Void>()
        var onNews: @Sendable () -> Void = {}
        var onRoom: @Sendable (Room) -> Void = { _ in }
    }
    private let state: Mutex<State>
    /// Its consumer is a handler, which takes everything as it comes.
    let isHandled = Atomic(false)
    /// Of a followed state, what its consumer is about.
    let followed = Atomic(SnapshotPhase.none)
    /// Events that a consumer has taken, and handles at the same time as others.
    let unhandled = Atomic(0)
    /// Of a stream.
    let loops = LoopCount()
    /// As in the state, for code that asks about every event.
    private let hasCancelled = Atomic(false)

    init(_ buffer: EventBuffer, _ drops: DropCounts = DropCounts()) {
        state = Mutex(State(queue: DeliveryQueue(buffer, drops), signalLimit: buffer.limit))
    }

    // MARK: The loop's side

    /// `onRoom` comes on the consumer's thread, once for what was awaited.
    func onRoom(_ body: @escaping @Sendable (Room) -> Void) { state.withLock { $0.onRoom = body } }

    /// Whether another page may be asked for. If not, `onRoom` is called when it may.
    func wantsPage() -> Bool {
        state.withLock { state in
            // One for which a consumer was notified is as good as taken: the next comes while it is being taken.
            if state.queuedPages == 0 || state.queuedPages == 1 && state.consumer.isNotified { return true }
            state.awaited.insert(.page)
            return false
        }
    }
    /// Whether there is room for another signal. If not, and `isDurable`, `onRoom` is called when half of them were
    /// taken.
    func wantsSignal(isDurable: Bool) -> Bool {
        state.withLock { state in
            if state.queue.eventCount < state.signalLimit || !isDurable { return true }
            state.awaited.insert(.signals)
            return false
        }
    }
    /// The consumer has taken everything, and waits for more.
    var isWaiting: Bool { state.withLock { $0.queuedPages == 0 && $0.consumer.foundNothing } }
    func append(_ page: KeptEvents) {
        if page.count == 0 { return }
        fill { state in
            state.queuedPages += 1
            state.queue.push(.page(page))
        }
    }
    /// Accepts a signal of a durable interface even if it is one too many: what waited for an answer comes all at once,
    /// and is bounded elsewhere.
    func append(live event: KeptEvents, isDurable: Bool) {
        let stamp = event.stamp(0)
        fill { _ = $0.queue.push(event, stamp, isBounded: !isDurable) }
    }
    func append(_ gap: Gap) { fill { _ = $0.queue.push(gap) } }
    func appendCaughtUp() { fill { $0.queue.push(.caughtUp) } }
    /// Nothing more comes; what there is can still be taken.
    func finish() {
        let news = state.withLock { state in
            state.queue.close()
            return state.news()
        }
        news.announce()
    }
    private func fill(_ body: (inout State) -> Void) {
        let news = state.withLock { state -> News? in
            if state.queue.isClosed { return nil }
            body(&state)
            return state.news()
        }
        news?.announce()
    }

    // MARK: The consumer's side

    /// `onNews` comes on the filling side's thread, once after `next` had nothing.
    func onNews(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onNews = body } }

    /// Several events in a row that come next, of which the first is the page's one at `index`; nil: `next` has what
    /// comes. They are taken by `take`.
    func batch() -> (page: KeptEvents, index: Int)? {
        let (batch, after) = state.withLock { state -> ((page: KeptEvents, index: Int)?, (() -> Void)?) in
            guard let batch = state.batch() else { return (nil, nil) }
            return (batch, state.foundRoom())
        }
        after?()
        return batch
    }
    /// The events of a batch up to here were delivered.
    func take(_ page: KeptEvents, through index: Int) {
        state.withLock { state in
            if state.page === page { state.index = max(state.index, index) }
        }
    }
    /// The next event or gap; nil: nothing now, or nothing any more.
    func next() -> Item? {
        let (item, after) = state.withLock { state -> (Item?, (() -> Void)?) in
            guard let item = state.take() else {
                state.consumer.rest()
                return (nil, nil)
            }
            return (item, state.foundRoom())
        }
        after?()
        return item
    }
    /// Whether everything was dropped: nothing more is delivered.
    var isCancelled: Bool { hasCancelled.load(ordering: .acquiring) }
    /// Waits for news; false when there can be none any more, or the task was cancelled.
    func wait(isolation: isolated (any Actor)?) async -> Bool {
        let ticket = state.withLock { $0.consumer.makeTicket() }
        await QueueConsumer<Void>.wait(isolation: isolation, cancelled: ()) { waiter in
            state.withLock { state -> Void? in
                let isClosing = state.isHeld && state.queue.isClosed
                if Task.isCancelled || state.hasItems || state.isOver || isClosing { return () }
                state.consumer.add(waiter, ticket)
                return nil
            }
        } leave: {
            state.withLock { $0.consumer.remove(ticket) }
        }
        return !Task.isCancelled && !isOver
    }
    /// Nothing comes any more; something may be left. What a consumer holds back need not wait for more.
    var isFinished: Bool { state.withLock { $0.queue.isClosed } }
    /// Nothing comes, and nothing is left.
    var isOver: Bool { state.withLock { $0.isOver } }
    /// Events in gaps so far; a gap that has no count counts as one.
    var missed: Int { state.withLock { $0.queue.missed } }
    /// Whether the consumer holds something back: then this is not over before that was delivered.
    func setHeld(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }
    /// Counts an event that turned out to be unreadable.
    func noteUnreadable() { state.withLock { $0.queue.noteUnreadable() } }

    /// Drops everything. No item is given any more.
    func cancel() {
        hasCancelled.store(true, ordering: .releasing)
        let (waiters, held) = state.withLock { state in
            let held = (state.queue.removeAll(), state.page)
            (state.page, state.isCancelled, state.onNews, state.onRoom) = (nil, true, {}, { _ in })
            return (state.consumer.takeAll(), held)
        }
        for waiter in waiters { waiter.resume() }
        withExtendedLifetime(held) {}
    }
    /// A handler has taken everything, and the last call has returned; or the loops over a stream wait.
    var isSettled: Bool {
        switch followed.load(ordering: .relaxed) {
        case .following: return state.withLock { $0.isOver || $0.consumer.isWaiting }
        case .unreachable, .failing: return true
        case .none: break
        }
        if !isHandled.load(ordering: .relaxed) {
            return loops.isZero || state.withLock { $0.isOver || $0.consumer.isWaiting && !$0.hasItems }
        }
        return state.withLock { $0.isOver || $0.consumer.isResting && !$0.hasItems }
            && unhandled.load(ordering: .sequentiallyConsistent) == 0
    }
    /// For tests: how many pages and signals are held.
    var held: (pages: Int, signals: Int) {
        state.withLock { state in
            let inHand = state.page == nil ? 0 : 1
            return (state.queuedPages + inHand, state.queue.eventCount)
        }
    }
}
