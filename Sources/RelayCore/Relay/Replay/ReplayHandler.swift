import Dispatch
import Synchronization

/// A positioned subscription whose handler is called.
///
/// The handler runs on the subscription's delivery target, one event at a time, and takes the next one from the feed
/// when it has returned: no hop and no suspension between the look at whether it was cancelled and the call.
final class ReplayHandler<Payload: Sendable>: AwaitableSubscription {
    private let source: ReplaySource<Payload>
    private let handler: Handler<Payload>
    private let gapHandler: Handler<Gap>?
    /// nil: at once, on the loop's thread.
    private let place: DeliveryPlace?
    /// What the subscription keeps alive.
    private let kept: (any Actor)?
    private let activity = HandlerActivity()
    /// A handler may wait for others: nobody waits for it.
    private let maySuspend: Bool
    /// How many events are delivered before others on the same place get their turn.
    private static var batch: Int { 128 }
    /// The same for a task: it costs a job to come back, and an event is taken in a microsecond or two.
    private static var taskBatch: Int { 512 }

    init(
        _ source: ReplaySource<Payload>, _ route: DeliveryRoute?, _ handler: Handler<Payload>,
        _ gapHandler: Handler<Gap>?, maySuspend: Bool = false
    ) {
        (self.source, self.handler, self.gapHandler) = (source, handler, gapHandler)
        self.maySuspend = maySuspend
        (place, kept) = (route?.place, route?.keeps)
    }
    /// Begins to deliver. Detached: a subscription must not inherit its maker's priority and task-local values.
    func start() {
        source.feed.isHandled.store(true, ordering: .relaxed)
        switch place {
        case .pool?, .actor?, .weakActor?: Task.detached { await self.run() }
        case .queue?, .pollable?: source.feed.onNews { [weak self] in self?.schedule() }
        case nil: source.feed.onNews { [weak self] in self?.drain(most: .max) }
        }
    }
    func cancel() { source.cancel() }
    var handlerThread: UInt { activity.thread }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }

    /// Calls the handler with events that are there together. Returns how many there were.
    private func deliver(most: Int, _ body: (Payload) -> Void) -> Int {
        activity.begin()
        defer { activity.end() }
        return source.deliver(most: most, body)
    }

    // MARK: The task of an actor or the pool

    private func run() async {
        switch place {
        case .pool?: await serve(isolation: nil)
        case .actor(let actor)?: await serve(isolation: actor)
        case .weakActor(let reference)?:
            // Waits off the actor, so that it can go meanwhile.
            while await source.feed.wait(isolation: nil) {
                guard let actor = reference.actor else { break }
                await deliverAll(isolation: actor)
            }
        case .queue?, .pollable?, nil: return
        }
        cancel()
    }
    private func serve(isolation: isolated (any Actor)?) async {
        while await source.feed.wait(isolation: isolation) { await deliverAll(isolation: isolation) }
    }
    private func deliverAll(isolation: isolated (any Actor)?) async {
        var left = Self.taskBatch
        while true {
            if case .sync(let body) = handler, case let count = deliver(most: left, body), count > 0 {
                left -= count
            } else {
                if !maySuspend { activity.begin() }
                defer { activity.end() }
                guard let taken = source.next() else { return }
                switch taken {
                case .event(let payload, _): await handler(payload)
                case .gap(let gap): await gapHandler?(gap)
                case .caughtUp: continue
                }
                source.acknowledge()
                left -= 1
            }
            if left == 0 {
                left = Self.taskBatch
                await Task.yield()
            }
        }
    }

    // MARK: Queues, pollable targets and the loop's thread

    private func schedule() {
        switch place {
        case .queue(let queue)?: queue.async { self.drain(most: Self.batch) }
        case .pollable(let target)?: target.enqueue { self.drain(most: Self.batch) }
        case .pool?, .actor?, .weakActor?, nil: break
        }
    }
    private func drain(most: Int) {
        var left = most
        while left > 0 {
            if case .sync(let body) = handler, case let count = deliver(most: left, body), count > 0 {
                left -= count
                continue
            }
            activity.begin()
            defer { activity.end() }
            guard let taken = source.next() else { break }
            switch taken {
            case .event(let payload, _): if case .sync(let body) = handler { body(payload) }
            case .gap(let gap): if case .sync(let body)? = gapHandler { body(gap) }
            case .caughtUp: break
            }
            source.acknowledge()
            left -= 1
        }
        if left == 0 { return schedule() }
        if source.feed.isOver { cancel() }
    }
}

/// A positioned subscription as what an `EventStream` takes from.
final class ReplayStream<Payload: Sendable>: PulledDeliveries {
    private let source: ReplaySource<Payload>

    init(_ source: ReplaySource<Payload>) { self.source = source }

    func poll() -> Delivery<Payload>? {
        source.acknowledge()
        return take()
    }
    func next(isolation: isolated (any Actor)?) async -> Delivery<Payload>? {
        // A consumer that asks for the next one is done with the last one.
        source.acknowledge()
        while !Task.isCancelled {
            if let delivery = take() { return delivery }
            if await source.feed.wait(isolation: isolation) { continue }
            if source.feed.isOver { cancel() }
            return nil
        }
        return nil
    }
    @inline(__always) private func take() -> Delivery<Payload>? {
        var found = ReplayFound.nothing
        while true {
            let payload = source.next(&found)
            switch found {
            case .event(let stamp): if let payload { return .event(payload, stamp) }
            case .gap(let gap): return .gap(gap)
            case .caughtUp: continue
            case .nothing: return nil
            }
        }
    }
    func cancel() { source.cancel() }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }
}
