import Synchronization

/// A positioned subscription whose handler is called.
///
/// The handler runs on the subscription's delivery target, one event at a time, and takes the next one from the feed
/// when it has returned: no hop and no suspension between the look at whether it was cancelled and the call.
final class ReplayHandler<Payload: Sendable>: AwaitableSubscription, PlacedDelivery {
    private let source: ReplaySource<Payload>
    private let handler: Handler<Payload>
    private let gapHandler: Handler<Gap>
    /// nil: at once, on the loop's thread.
    let place: DeliveryPlace?
    /// What the subscription keeps alive.
    private let kept: (any Actor)?
    private let activity = HandlerActivity()
    /// A handler may wait for others: nobody waits for it.
    private let maySuspend: Bool

    init(
        _ source: ReplaySource<Payload>, _ route: DeliveryRoute?, _ handler: Handler<Payload>,
        _ gapHandler: Handler<Gap>, maySuspend: Bool = false
    ) {
        (self.source, self.handler, self.gapHandler) = (source, handler, gapHandler)
        self.maySuspend = maySuspend
        (place, kept) = (route?.place, route?.keeps)
    }
    /// Begins to deliver.
    func begin() {
        source.feed.isHandled.store(true, ordering: .relaxed)
        source.feed.onNews { [weak self] in self?.schedule() }
        start()
    }
    func cancel() { source.cancel() }
    var handlerThread: UInt { activity.thread }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }

    // MARK: Delivering

    /// It costs a job to come back, and an event is taken in a microsecond or two.
    var taskLimit: Int { 512 }
    var jobLimit: Int { place == nil ? .max : 128 }

    func waitForNews(isolation: isolated (any Actor)?) async -> Bool { await source.feed.wait(isolation: isolation) }
    func deliver(most limit: Int, isolation: isolated (any Actor)?) async -> Int {
        let count = deliverTogether(limit)
        if count > 0 { return count }
        if !maySuspend { activity.begin() }
        defer { activity.end() }
        guard let taken = source.next() else { return 0 }
        switch taken {
        case .event(let payload, _): await handler(payload)
        case .gap(let gap): await gapHandler(gap)
        case .caughtUp: break
        }
        source.acknowledge()
        return 1
    }
    func deliver(most limit: Int) -> Int {
        let count = deliverTogether(limit)
        if count > 0 { return count }
        activity.begin()
        defer { activity.end() }
        guard let taken = source.next() else { return 0 }
        switch taken {
        case .event(let payload, _): if case .sync(let body) = handler { body(payload) }
        case .gap(let gap): if case .sync(let body) = gapHandler { body(gap) }
        case .caughtUp: break
        }
        source.acknowledge()
        return 1
    }
    /// Events that are there together. 0: there are none, or the handler may wait.
    private func deliverTogether(_ limit: Int) -> Int {
        guard case .sync(let body) = handler else { return 0 }
        activity.begin()
        defer { activity.end() }
        return source.deliver(most: limit, body)
    }
    /// What is held back shows only when the next one is taken.
    func needsJob() -> Bool { true }
    func tookAll() { if source.feed.isOver { cancel() } }
    func losePlace() { cancel() }
}

/// A positioned subscription as what an `EventStream` takes from.
final class ReplayStream<Payload: Sendable>: PulledDeliveries {
    private let source: ReplaySource<Payload>
    private let hasCaughtUp = Atomic(false)

    init(_ source: ReplaySource<Payload>) { self.source = source }

    /// Everything was taken that there was when it began.
    var isCaughtUp: Bool { hasCaughtUp.load(ordering: .relaxed) }

    func poll() -> EventOrGap<Payload>? {
        source.acknowledge()
        return take()
    }
    func next(isolation: isolated (any Actor)?) async -> EventOrGap<Payload>? {
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
    @inline(__always) func take() -> EventOrGap<Payload>? {
        var found = ReplayFound.nothing
        while true {
            let payload = source.next(&found)
            switch found {
            case .event(let stamp): if let payload { return .event(payload, stamp) }
            case .gap(let gap): return .gap(gap)
            case .caughtUp: hasCaughtUp.store(true, ordering: .relaxed)
            case .nothing: return nil
            }
        }
    }
    func takeMore() -> EventOrGap<Payload>? { take() }
    var loops: LoopCount { source.feed.loops }
    func cancel() { source.cancel() }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }
}
