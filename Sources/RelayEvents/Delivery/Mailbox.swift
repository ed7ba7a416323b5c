import Dispatch
import Glibc
import Synchronization

/// The deliveries of one publisher to one place, in the order in which they were published, across event types.
///
/// Subscriptions keep their own queues; the mailbox keeps one token for each entry, so that two subscriptions on the
/// same actor or queue see events in the order of their publication.
final class Mailbox: Sendable {
    struct State {
        fileprivate var tokens = Deque<BufferedSubscriber>()
        /// Void tokens; kept below half of all tokens.
        var idleTokens = 0
        fileprivate var users = 0
        fileprivate var waiter: UnsafeContinuation<Void, Never>?
        fileprivate var isScheduled = false
        /// The thread on which a handler runs that returns without waiting; 0: none. Kept until the next token is taken.
        fileprivate(set) var runner: UInt = 0
        /// The publisher is gone.
        fileprivate var isClosed = false
        fileprivate var isOver: Bool { users == 0 || isClosed }
    }
    let place: DeliveryPlace
    let state = Mutex(State())

    init(_ place: DeliveryPlace) { self.place = place }

    /// One long-lived task for an actor or the pool; none for a queue.
    ///
    /// Detached: it serves subscriptions of anybody, and must not have the first one's priority and task-local values.
    func start() {
        switch place {
        case .pool, .actor, .weakActor: Task.detached { await self.run() }
        case .queue, .pollable: break
        }
    }
    var tokenCount: Int { state.withLock { $0.tokens.count } }
    /// Everything was delivered, and its handlers have returned. A pollable target is for its owner to drain.
    var isIdle: Bool {
        state.withLock { state in
            switch place {
            case .pollable: true
            case .queue: state.tokens.isEmpty && !state.isScheduled
            case .pool, .actor, .weakActor: state.isOver || state.tokens.isEmpty && state.waiter != nil
            }
        }
    }

    /// Whether its actor is gone. Asked for under a lock, which is safe if the caller holds whatever is at that
    /// address.
    var isOrphaned: Bool { if case .weakActor(let reference) = place { reference.actor == nil } else { false } }

    // MARK: Under the publisher's lock

    func addUser() { state.withLock { $0.users += 1 } }
    /// Whether that was the last one. Then all tokens are of cancelled subscriptions, which would keep this mailbox,
    /// and it them, if its place never got to it.
    func removeUser(_ after: inout AfterUnlock) -> Bool {
        let left = state.withLock { state -> (waiter: Wakeup?, tokens: Deque<BufferedSubscriber>)? in
            state.users -= 1
            if state.users > 0 { return nil }
            defer { (state.tokens, state.idleTokens) = (Deque(), 0) }
            return (state.takeWaiter(), state.tokens)
        }
        guard var left else { return false }
        after.wake(left.waiter)
        while let subscriber = left.tokens.popFirst() { after.release(subscriber) }
        if case .pollable(let target) = place { after.release(target.forget(self)) }
        return true
    }
    /// Ends the task after what is held.
    func close(_ after: inout AfterUnlock) {
        let waiter = state.withLock { state in
            state.isClosed = true
            return state.takeWaiter()
        }
        after.wake(waiter)
    }
    func enqueue(
        _ subscriber: BufferedSubscriber, _ after: inout AfterUnlock, _ push: () -> DeliveryQueue.Change
    ) {
        let (wakeup, change, removed) = state.withLock {
            state -> (Wakeup?, DeliveryQueue.Change, [BufferedSubscriber]) in
            let change = push()
            if change.orphaned > 0 { subscriber.counting(in: &state) { subscriber.addOrphans(change.orphaned) } }
            guard change.isAdded else { return (nil, change, []) }
            state.tokens.append(subscriber)
            let removed = state.compact()
            switch place {
            case .pool, .actor, .weakActor: return (state.takeWaiter(), change, removed)
            case .queue, .pollable:
                if state.isScheduled { return (nil, change, removed) }
                state.isScheduled = true
                return (.schedule(self), change, removed)
            }
        }
        after.wake(wakeup)
        change.release(&after)
        for subscriber in removed { after.release(subscriber) }
    }

    // MARK: The task of an actor or the pool

    private func run() async {
        switch place {
        case .pool: await serve(isolation: nil)
        case .actor(let actor): await serve(isolation: actor)
        case .weakActor(let reference):
            // Waits off the actor, so that it can go meanwhile.
            while await hasWork(isolation: nil) {
                if let actor = reference.actor { await deliverAll(isolation: actor) } else { cancelAll() }
            }
        case .queue, .pollable: break
        }
    }
    private func serve(isolation: isolated (any Actor)?) async {
        while await hasWork(isolation: isolation) { await deliverAll(isolation: isolation) }
    }
    private func deliverAll(isolation: isolated (any Actor)?) async {
        var budget = 128
        while let next = popToken() {
            await next.deliverNext(isolation: isolation)
            budget -= 1
            if budget == 0 {
                budget = 128
                state.withLock { $0.runner = 0 }
                await Task.yield()
            }
        }
    }
    /// The actor is gone, and with it everything that was subscribed on it.
    private func cancelAll() { while let next = popToken() { next.cancel() } }
    /// Waits for a token; false when none can come any more.
    private func hasWork(isolation: isolated (any Actor)?) async -> Bool {
        while true {
            let answer = state.withLock { state -> Bool? in
                if !state.tokens.isEmpty { return true }
                return state.isOver ? false : nil
            }
            if let answer { return answer }
            await withUnsafeContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if !state.tokens.isEmpty || state.isOver { return true }
                    state.waiter = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        }
    }
    /// Delivers what is held, on the actor's thread, which is the caller's, in its order; up to a handler of gaps that has to wait.
    func deliverAtOnce() {
        // A handler of this thread may be under way, and have published what is delivered here.
        let (runner, held) = state.withLock { ($0.runner, $0.tokens.count) }
        for _ in 0..<held {
            let next = state.withLock { state -> BufferedSubscriber? in
                guard state.tokens.first?.isSynchronous == true else { return nil }
                // The one that is under way goes on to be waited for, whatever is delivered within it.
                if runner == 0 { state.runner = 0 }
                return state.tokens.popFirst()
            }
            guard let next else { break }
            next.deliverNext()
        }
        state.withLock { $0.runner = runner }
    }
    private func popToken() -> BufferedSubscriber? {
        state.withLock { state in
            state.runner = 0
            return state.tokens.popFirst()
        }
    }
    /// The thread that is within a handler of this, but for those of objects, which may wait for others. 0: none.
    var handlerThread: UInt { state.withLock { $0.runner } }

    // MARK: Queues and pollable targets

    /// Once for any number of tokens, until they are drained.
    func schedule() {
        switch place {
        case .queue(let queue): queue.async { self.drain() }
        case .pollable(let target): target.enqueue(self)
        case .pool, .actor, .weakActor: break
        }
    }
    /// Delivers what was held when its turn came, so that others on the same queue get theirs.
    func drain() {
        for _ in 0..<tokenCount {
            guard let next = popToken() else { break }
            next.deliverNext()
        }
        let isMore = state.withLock { state in
            state.runner = 0
            state.isScheduled = !state.tokens.isEmpty
            return state.isScheduled
        }
        if isMore { schedule() }
    }
}

extension Mailbox.State {
    /// A handler is about to be called.
    mutating func noteRunner() { runner = pthread_self() }
    fileprivate mutating func takeWaiter() -> Wakeup? {
        defer { waiter = nil }
        return waiter.map { .resume($0) }
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
        func interface<D: DomainEvent>(of type: D.Type) -> ObjectIdentifier { ObjectIdentifier(D.Interface.self) }
        self.interface = (E.self as? any DomainEvent.Type).map { interface(of: $0) }
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
