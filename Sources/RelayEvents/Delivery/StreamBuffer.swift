import Synchronization

/// The queue of a stream, and the consumers that wait for it.
final class StreamBuffer: SubscriptionBody, BufferedDelivery {
    typealias Waiter = UnsafeContinuation<DeliveryQueue.Item?, Never>
    fileprivate struct State {
        var queue: DeliveryQueue
        var waiters: [(id: UInt64, continuation: Waiter)] = []
        var lastID: UInt64 = 0
        var isFinished: Bool { queue.isClosed && queue.isEmpty }
    }
    private let state: Mutex<State>
    private let onCancel: @Sendable (StreamBuffer) -> Void
    var showsStamps: Bool { true }

    init(_ buffer: EventBuffer, _ drops: DropCounts, onCancel: @escaping @Sendable (StreamBuffer) -> Void) {
        state = Mutex(State(queue: DeliveryQueue(buffer, drops)))
        self.onCancel = onCancel
    }
    var isActive: Bool { state.withLock { !$0.isFinished } }
    var missed: Int { state.withLock { $0.queue.missed } }

    // MARK: Under the publisher's lock

    func offer(_ event: AnyEventBox, _ stamp: Stamp, _ after: inout AfterUnlock) {
        let (waiter, change) = state.withLock { state -> (Waiter?, DeliveryQueue.Change) in
            if state.queue.isClosed { return (nil, .init()) }
            if !state.waiters.isEmpty { return (state.waiters.removeFirst().continuation, .init()) }
            return (nil, state.queue.push(event, stamp))
        }
        if let waiter { after.wake(.deliver(waiter, .event(event, stamp))) }
        change.release(&after)
    }
    func offer(_ gap: Gap, _ after: inout AfterUnlock) {
        let waiter = state.withLock { state -> Waiter? in
            if state.queue.isClosed { return nil }
            if state.waiters.isEmpty {
                _ = state.queue.push(gap)
                return nil
            }
            state.queue.note(gap)
            return state.waiters.removeFirst().continuation
        }
        if let waiter { after.wake(.deliver(waiter, .gap(gap))) }
    }
    func end(_ after: inout AfterUnlock) {
        let waiters = state.withLock { state in
            state.queue.close()
            return state.takeWaiters()
        }
        for waiter in waiters { after.wake(.finish(waiter.continuation)) }
    }

    // MARK: For the consumer

    func cancel() {
        let (waiters, held) = state.withLock { state in
            let held = state.queue.removeAll()
            return (state.takeWaiters(), held)
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
        withExtendedLifetime(held) {}
        onCancel(self)
    }
    /// What is there; nil: nothing now.
    func poll() -> DeliveryQueue.Item? { state.withLock { $0.queue.pop() } }
    func next(isolation: isolated (any Actor)?) async -> DeliveryQueue.Item? {
        // First, so that a cancelled task ends its loop however full the queue is.
        if Task.isCancelled { return nil }
        enum Answer { case item(DeliveryQueue.Item), finished, waits(UInt64) }
        let answer = state.withLock { state -> Answer in
            if let item = state.queue.pop() { return .item(item) }
            if state.isFinished { return .finished }
            state.lastID += 1
            return .waits(state.lastID)
        }
        switch answer {
        case .item(let item): return item
        case .finished:
            cancel()  // Leaves the publisher, if the buffer's overflow was the end.
            return nil
        case .waits(let id): return await wait(id, isolation: isolation)
        }
    }
    private func wait(_ id: UInt64, isolation: isolated (any Actor)?) async -> DeliveryQueue.Item? {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let answer: DeliveryQueue.Item?? = state.withLock { state in
                    if Task.isCancelled { return .some(nil) }
                    if let item = state.queue.pop() { return .some(item) }
                    if state.isFinished { return .some(nil) }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume(returning: nil)
        }
    }
}

extension StreamBuffer.State {
    fileprivate mutating func takeWaiters() -> [(id: UInt64, continuation: StreamBuffer.Waiter)] {
        defer { waiters = [] }
        return waiters
    }
}
