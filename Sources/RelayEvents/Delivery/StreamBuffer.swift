/// The queue of a stream, and the consumers that wait for it.
final class StreamBuffer: SubscriptionBody, BufferedDelivery {
    typealias Consumer = QueueConsumer<EventQueue.Item?>
    private struct State {
        var queue: EventQueue
        var consumer = Consumer()
        var isFinished: Bool { queue.isClosed && queue.isEmpty }
    }
    private let state: PublishingLock<State>
    private let onCancel: @Sendable (StreamBuffer) -> Void
    var showsStamps: Bool { true }
    let loops = LoopCount()
    /// Its loops have had everything, and wait.
    var isIdle: Bool {
        loops.isZero || state.withLock { $0.isFinished || $0.queue.isEmpty && $0.consumer.isWaiting }
    }

    init(_ buffer: EventBuffer, _ drops: DropCounts, onCancel: @escaping @Sendable (StreamBuffer) -> Void) {
        state = PublishingLock(State(queue: EventQueue(buffer, drops)))
        self.onCancel = onCancel
    }
    var isActive: Bool { state.withLock { !$0.isFinished } }
    var missed: Int { state.withLock { $0.queue.missed } }

    // MARK: Under the publisher's lock

    func offer(_ event: AnyEventBox, _ stamp: Stamp, _ after: inout AfterUnlock) {
        let (waiter, change) = state.withLock { state -> (Consumer.Waiter?, EventQueue.Change) in
            if state.queue.isClosed { return (nil, .init()) }
            if let waiter = state.consumer.takeFirst() { return (waiter, .init()) }
            return (nil, state.queue.push(event, stamp))
        }
        if let waiter { after.wake(.deliver(waiter, .event(event, stamp))) }
        change.release(&after)
    }
    func offer(_ gap: Gap, _ after: inout AfterUnlock) {
        let waiter = state.withLock { state -> Consumer.Waiter? in
            if state.queue.isClosed { return nil }
            let waiter = state.consumer.takeFirst()
            if waiter != nil { state.queue.note(gap) } else { _ = state.queue.push(gap) }
            return waiter
        }
        if let waiter { after.wake(.deliver(waiter, .gap(gap))) }
    }
    func end(_ after: inout AfterUnlock) {
        let waiters = state.withLock { state in
            state.queue.close()
            return state.consumer.takeAll()
        }
        for waiter in waiters { after.wake(.finish(waiter)) }
    }

    // MARK: For the consumer

    func cancel() {
        let (waiters, held) = state.withLock { state in
            let held = state.queue.removeAll()
            return (state.consumer.takeAll(), held)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        withExtendedLifetime(held) {}
        onCancel(self)
    }
    /// What is there; nil: nothing now.
    func poll() -> EventQueue.Item? { state.withLock { $0.queue.pop() } }
    func next(isolation: isolated (any Actor)?) async -> EventQueue.Item? {
        // First, so that a cancelled task ends its loop however full the queue is.
        if Task.isCancelled { return nil }
        enum Answer { case item(EventQueue.Item), finished, waits(UInt64) }
        let answer = state.withLock { state -> Answer in
            if let item = state.queue.pop() { return .item(item) }
            if state.isFinished { return .finished }
            return .waits(state.consumer.makeTicket())
        }
        switch answer {
        case .item(let item): return item
        case .finished:
            cancel()  // Leaves the publisher, if the buffer's overflow was the end.
            return nil
        case .waits(let ticket): return await wait(ticket, isolation: isolation)
        }
    }
    private func wait(_ ticket: UInt64, isolation: isolated (any Actor)?) async -> EventQueue.Item? {
        await Consumer.wait(isolation: isolation, cancelled: nil) { waiter in
            state.withLock { state -> EventQueue.Item?? in
                if Task.isCancelled { return .some(nil) }
                if let item = state.queue.pop() { return .some(item) }
                if state.isFinished { return .some(nil) }
                state.consumer.add(waiter, ticket)
                return nil
            }
        } leave: {
            state.withLock { $0.consumer.remove(ticket) }
        }
    }
}
