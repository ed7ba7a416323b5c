/// The deliveries of one publisher to one place, in the order in which they were published, across event types.
///
/// Subscriptions keep their own queues; the mailbox keeps one token for each entry, so that two subscriptions on the
/// same actor or queue see events in the order of their publication.
final class Mailbox: PlacedDelivery, HandlerHost {
    typealias Tokens = Deque<BufferedSubscriber>
    struct State {
        fileprivate var tokens = Tokens()
        /// Void tokens; kept below half of all tokens.
        var idleTokens = 0
        fileprivate var users = 0
        /// The place's task, or its jobs: busy while one is due or runs.
        fileprivate var consumer = QueueConsumer<Void>()
        /// The publisher is gone.
        fileprivate var isClosed = false
        fileprivate var isOver: Bool { users == 0 || isClosed }
    }
    let place: DeliveryPlace?
    let state = PublishingLock(State())
    /// But for handlers that may wait.
    let activity = HandlerActivity()

    init(_ place: DeliveryPlace) { self.place = place }

    var tokenCount: Int { state.withLock { $0.tokens.count } }
    /// Everything was delivered, and its handlers have returned. A pollable target is for its owner to drain.
    var isIdle: Bool {
        state.withLock { state in
            switch place {
            case .pollable?, nil: true
            case .queue?: state.tokens.isEmpty && state.consumer.isResting
            case .threads?, .executor?, .actor?, .weakActor?:
                state.isOver || state.tokens.isEmpty && state.consumer.isWaiting
            }
        }
    }

    /// Whether its actor is gone. Asked for under a lock, which is safe if the caller holds whatever is at that
    /// address.
    var isOrphaned: Bool { if case .weakActor(let reference)? = place { reference.actor == nil } else { false } }

    // MARK: Under the publisher's lock

    func addUser() { state.withLock { $0.users += 1 } }
    /// Whether that was the last one. Then all tokens are of cancelled subscriptions, which would keep this mailbox,
    /// and it them, if its place never got to it.
    func removeUser(_ after: inout AfterUnlock) -> Bool {
        let left = state.withLock { state -> (notification: QueueConsumer<Void>.Notification, tokens: Tokens)? in
            state.users -= 1
            if state.users > 0 { return nil }
            defer { (state.tokens, state.idleTokens) = (Tokens(), 0) }
            return (state.wakeTask(), state.tokens)
        }
        guard var left else { return false }
        after.notify(left.notification, of: self)
        while let subscriber = left.tokens.popFirst() { after.release(subscriber) }
        if case .pollable(let target)? = place { after.release(target.forget(self)) }
        return true
    }
    /// Ends the task after what is held.
    func close(_ after: inout AfterUnlock) {
        let notification = state.withLock { state in
            state.isClosed = true
            return state.wakeTask()
        }
        after.notify(notification, of: self)
    }
    func enqueue(
        _ subscriber: BufferedSubscriber, _ after: inout AfterUnlock, _ push: () -> EventQueue.Change
    ) {
        let (notification, change, removed) = state.withLock {
            state -> (QueueConsumer<Void>.Notification, EventQueue.Change, [BufferedSubscriber]) in
            let change = push()
            if change.orphaned > 0 { subscriber.counting(in: &state) { subscriber.addOrphans(change.orphaned) } }
            guard change.isAdded else { return (.none, change, []) }
            state.tokens.append(subscriber)
            let removed = state.compact()
            return (state.consumer.notify(), change, removed)
        }
        after.notify(notification, of: self)
        change.release(&after)
        for subscriber in removed { after.release(subscriber) }
    }

    // MARK: Delivering

    let taskLimit = 128
    /// What was held when its turn came.
    var jobLimit: Int { tokenCount }

    func waitForNews(isolation: isolated (any Actor)?) async -> Bool {
        while true {
            let answer = state.withLock { state -> Bool? in
                if !state.tokens.isEmpty { return true }
                return state.isOver ? false : nil
            }
            if let answer { return answer }
            await withUnsafeContinuation { waiter in
                let resumesNow = state.withLock { state in
                    if !state.tokens.isEmpty || state.isOver { return true }
                    state.consumer.add(waiter, 0)
                    return false
                }
                if resumesNow { waiter.resume() }
            }
        }
    }
    func deliver(most limit: Int, isolation: isolated (any Actor)?) async -> Int {
        guard let next = popToken() else { return 0 }
        await next.deliverNext(isolation: isolation)
        activity.end()
        return 1
    }
    func deliver(most limit: Int) -> Int {
        guard let next = popToken() else { return 0 }
        next.deliverNext()
        activity.end()
        return 1
    }
    func needsJob() -> Bool {
        state.withLock { state in
            if state.tokens.isEmpty { state.consumer.rest() }
            return !state.tokens.isEmpty
        }
    }
    private func popToken() -> BufferedSubscriber? {
        state.withLock { state in
            let next = state.tokens.popFirst()
            if next == nil { state.consumer.rest() }
            return next
        }
    }
    func tookAll() {}
    /// With the actor everything is gone that was subscribed on it.
    func losePlace() { while let next = popToken() { next.cancel() } }
    /// Delivers what is held, on the actor's thread, which is the caller's, in its order; up to a handler of gaps that
    /// has to wait.
    func deliverAtOnce() {
        // A handler of this thread may be under way, and have published what is delivered here.
        activity.nesting { isWithin in
            for _ in 0..<tokenCount {
                let next = state.withLock { state in
                    state.tokens.first?.isSynchronous == true ? state.tokens.popFirst() : nil
                }
                guard let next else { break }
                if !isWithin { activity.end() }
                next.deliverNext()
            }
        }
    }
    /// The thread that is within a handler of this, but for those of objects, which may wait for others. 0: none.
    var handlerThread: UInt { activity.thread }
}

extension Mailbox.State {
    /// It may have to end. A job need not.
    fileprivate mutating func wakeTask() -> QueueConsumer<Void>.Notification {
        consumer.isWaiting ? consumer.notify() : .none
    }
    /// Bounds the tokens by twice what the queues hold. Returns cancelled subscribers that were let go.
    fileprivate mutating func compact() -> [BufferedSubscriber] {
        guard idleTokens > 64 && idleTokens > tokens.count / 2 else { return [] }
        var removed: [BufferedSubscriber] = []
        tokens.filter { subscriber in
            guard subscriber.dropsIdleToken() else { return true }
            if subscriber.holdsNothing { removed.append(subscriber) }
            return false
        }
        idleTokens = 0
        return removed
    }
}

/// The subscribers of one event type, without its type: see `AnyEventBox`. Everything mutable is guarded by the
/// publisher's lock.
///
/// What every publish reads is exempt from the run-time check of exclusive access, which that lock already grants: the
/// check is a tenth of a publish.
final class Channel: @unchecked Sendable {
    @exclusivity(unchecked) var immediate: ContiguousArray<ImmediateSubscriber> = []
    @exclusivity(unchecked) var buffered: ContiguousArray<any BufferedDelivery> = []
    /// Whether one of them shows stamps, so that the clock has to be read.
    @exclusivity(unchecked) var showsStamps = false
    /// The sequence of the preceding event of this type that was published here.
    @exclusivity(unchecked) var previous: UInt64 = 0
    /// What the interest observer knows; nil while it is being notified.
    var reportedInterest: Bool? = false
    /// The subscribers that came since a lasting gap was reported to all; nil before there was one.
    private(set) var newcomers: Set<ObjectIdentifier>?
    var isUnused: Bool { immediate.isEmpty && buffered.isEmpty }

    /// The type's interface, if it is a domain event.
    let interface: ObjectIdentifier?
    /// Makes the box of an event that a pointer shows.
    let box: @Sendable (UnsafeRawPointer) -> AnyEventBox
    /// Reports to an observer whether there is a subscriber.
    let report: @Sendable (any InterestObserver, Bool) -> Void

    init<E: Event>(_ type: E.Type) {
        func interface<D: StreamEntry>(of type: D.Type) -> ObjectIdentifier { ObjectIdentifier(D.Interface.self) }
        self.interface = (E.self as? any StreamEntry.Type).map { interface(of: $0) }
        box = { EventBox($0.assumingMemoryBound(to: E.self).pointee) }
        report = { observer, isWanted in
            if isWanted { observer.interestBegan(in: E.self) } else { observer.interestEnded(in: E.self) }
        }
    }

    func addImmediate(_ subscriber: ImmediateSubscriber) {
        immediate.append(subscriber)
        newcomers?.insert(ObjectIdentifier(subscriber))
    }
    func removeImmediate(_ subscriber: ImmediateSubscriber) {
        immediate.removeAll { $0 === subscriber }
        newcomers?.remove(ObjectIdentifier(subscriber))
    }
    /// All here have been notified.
    func welcomeNewcomers() { newcomers = [] }

    func add(_ delivery: any BufferedDelivery) {
        buffered.append(delivery)
        newcomers?.insert(ObjectIdentifier(delivery))
        showsStamps = showsStamps || delivery.showsStamps
    }
    func remove(_ delivery: AnyObject) {
        buffered.removeAll { $0 === delivery }
        newcomers?.remove(ObjectIdentifier(delivery))
        showsStamps = buffered.contains { $0.showsStamps }
    }
}
