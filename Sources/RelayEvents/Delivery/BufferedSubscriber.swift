import Synchronization

/// A subscription with a queue of its own, delivered through a mailbox.
///
/// The queue is guarded by the mailbox's lock. Each of its entries has a token in the mailbox; the tokens of entries
/// that were dropped are orphans, and come before all others of this subscription.
final class BufferedSubscriber: SubscriptionBody, BufferedDelivery, @unchecked Sendable {
    let mailbox: Mailbox
    private var queue: EventQueue
    private var orphans = 0
    private var isDiscarded = false
    private let handler: Handler<AnyEventBox>
    private let gapHandler: Handler<Gap>
    private let cancelled = Atomic<Bool>(false)
    private let onCancel: @Sendable (BufferedSubscriber) -> Void
    /// Where the handler runs lives as long as the subscription: the mailbox itself holds its actor weakly.
    private let place: (any Actor)?
    /// The handler may wait for others: nobody waits for it.
    private let maySuspend: Bool
    /// Whether the handler has somebody left to call; asked where no lock is held.
    private let isAlive: (@Sendable () -> Bool)?
    var showsStamps: Bool { false }

    init(
        _ mailbox: Mailbox, _ buffer: EventBuffer, _ drops: DropCounts, _ handler: Handler<AnyEventBox>,
        _ gapHandler: Handler<Gap>, keeping place: (any Actor)?, while isAlive: (@Sendable () -> Bool)?,
        maySuspend: Bool, onCancel: @escaping @Sendable (BufferedSubscriber) -> Void
    ) {
        (self.mailbox, self.handler, self.gapHandler, self.onCancel) = (mailbox, handler, gapHandler, onCancel)
        (self.place, self.isAlive, self.maySuspend) = (place, isAlive, maySuspend)
        queue = EventQueue(buffer, drops)
    }
    private var isCancelled: Bool { cancelled.load(ordering: .sequentiallyConsistent) }
    var isActive: Bool { !isCancelled && !mailbox.state.withLock { _ in queue.isClosed && queue.isEmpty } }
    var missed: Int { mailbox.state.withLock { _ in queue.missed } }

    func cancel() {
        if cancelled.exchange(true, ordering: .sequentiallyConsistent) { return }
        onCancel(self)
        // What is held can be much, and the place may never get to it. Its tokens go with the mailbox, or when they are
        // many.
        let held = mailbox.state.withLock { state in
            counting(in: &state) {
                let held = queue.removeAll()
                (orphans, isDiscarded) = (orphans + held.count, true)
                return held
            }
        }
        withExtendedLifetime(held) {}
    }
    /// For one whose publisher is gone: nobody else notifies the mailbox.
    func leave() {
        var after = AfterUnlock()
        _ = mailbox.removeUser(&after)
        after.run()
    }
    func end(_ after: inout AfterUnlock) { mailbox.state.withLock { _ in queue.close() } }

    func offer(_ event: AnyEventBox, _ stamp: Stamp, _ after: inout AfterUnlock) {
        mailbox.enqueue(self, &after) { queue.push(event, stamp) }
    }
    func offer(_ gap: Gap, _ after: inout AfterUnlock) {
        mailbox.enqueue(self, &after) { queue.push(gap) }
    }

    // MARK: Under the mailbox's lock

    /// How many of this subscription's tokens are void: all but the one that marks the place of its gap.
    private var idleTokens: Int { isDiscarded ? orphans : max(0, orphans - 1) }

    func counting<Result>(in state: inout Mailbox.State, _ change: () -> Result) -> Result {
        let before = idleTokens
        defer { state.idleTokens += idleTokens - before }
        return change()
    }
    func addOrphans(_ count: Int) { orphans += count }
    /// Whether this token can go; counts it as gone.
    func dropsIdleToken() -> Bool {
        guard idleTokens > 0 else { return false }
        orphans -= 1
        return true
    }
    var holdsNothing: Bool { isDiscarded }
    /// What comes next has a handler that returns without waiting.
    var isSynchronous: Bool {
        guard case .sync = handler else { return false }
        if case .async = gapHandler { return orphans == 0 && queue.nextIsEvent }
        return true
    }

    private func pop() -> EventQueue.Entry? {
        mailbox.state.withLock { state in
            if !maySuspend { mailbox.activity.begin() }
            return counting(in: &state) {
                guard orphans > 0 else { return queue.popEntry() }
                orphans -= 1
                // One run of gaps for a run of losses, right before the next event of its type that survived.
                return orphans == 0 ? queue.popLost() : nil
            }
        }
    }

    // MARK: Delivery, on the handler's own isolation

    func deliverNext(isolation: isolated (any Actor)?) async {
        guard let entry = pop(), !isCancelled else { return }
        switch entry {
        case .event(let box, _): await handler(box)
        case .gaps(let run):
            for gap in run.gaps where !isCancelled { await gapHandler(gap) }
            endIfClosed()
        }
        if isAlive?() == false { cancel() }
    }
    /// For places that wait for nothing: their handlers are synchronous.
    func deliverNext() {
        guard let entry = pop(), !isCancelled else { return }
        switch entry {
        case .event(let box, _): if case .sync(let body) = handler { body(box) }
        case .gaps(let run):
            if case .sync(let body) = gapHandler { for gap in run.gaps where !isCancelled { body(gap) } }
            endIfClosed()
        }
        if isAlive?() == false { cancel() }
    }
    private func endIfClosed() {
        if mailbox.state.withLock({ _ in queue.isClosed && queue.isEmpty }) { cancel() }
    }
}

/// What a publisher offers events to, under its lock: nothing here may run code of others.
protocol BufferedDelivery: AnyObject, Sendable {
    /// Whether the subscriber sees stamps, so that the clock has to be read.
    var showsStamps: Bool { get }
    func offer(_ event: AnyEventBox, _ stamp: Stamp, _ after: inout AfterUnlock)
    func offer(_ gap: Gap, _ after: inout AfterUnlock)
    /// The publisher is gone: ends after what is held.
    func end(_ after: inout AfterUnlock)
}

/// How far a subscription may fall behind, and what is dropped beyond that. Dropped events always appear as a gap.
///
/// Limits count events, and are at least 1.
public struct EventBuffer: Hashable, Sendable {
    package enum Overflow: Hashable { case dropOldest, dropNewest, end }
    package let limit: Int
    package let overflow: Overflow

    /// Drops the oldest events. The gap comes first, then the newest events.
    ///
    /// However many events are dropped, they make one gap, unless the subscriber takes events between two overflows.
    /// Even then gaps stay few: after the first one, a full buffer drops its older half, so each further gap covers at
    /// least half a buffer of events.
    ///
    /// - Parameter limit: how many events are buffered.
    public static func bufferingNewest(_ limit: Int) -> Self { Self(limit: max(1, limit), overflow: .dropOldest) }
    /// Drops the newest events. The gap comes after the events that were buffered before it.
    ///
    /// However many events are dropped, they make one gap, unless the subscriber takes events between two overflows.
    /// Even then gaps stay few: after an overflow, the buffer drops events until half of it is free, so at least half a
    /// buffer of events lies between two gaps.
    ///
    /// - Parameter limit: how many events are buffered.
    public static func bufferingOldest(_ limit: Int) -> Self { Self(limit: max(1, limit), overflow: .dropNewest) }
    /// Ends the subscription, with a gap as its last delivery.
    ///
    /// - Parameter limit: how many events are buffered.
    public static func ending(after limit: Int) -> Self { Self(limit: max(1, limit), overflow: .end) }

    /// The newest 1,024 events.
    public static let standard = Self.bufferingNewest(1_024)

    /// How many events are dropped at once, or have to be taken before another one has room: for few gaps.
    package var share: Int { max(1, limit / 2) }
    /// With fewer events, a buffer that has dropped the newest takes one again.
    package var boundWhileDropping: Int { limit - share + 1 }
}
