import Synchronization

/// A subscription as a sequence. It holds events from the moment it was asked for, not from its first iteration.
///
/// It ends when it is cancelled or released, or when its publisher goes. One consumer: two loops share the deliveries.
public struct EventStream<Payload: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Delivery<Payload>
    public typealias Failure = Never
    private let handle: Subscription
    private let buffer: StreamBuffer
    private let unbox: @Sendable (AnyEventBox) -> Payload

    init(_ buffer: StreamBuffer, _ unbox: @escaping @Sendable (AnyEventBox) -> Payload) {
        (self.buffer, self.unbox, handle) = (buffer, unbox, Subscription(buffer))
    }

    /// Ends the stream; what is buffered is dropped.
    public func cancel() { handle.cancel() }
    /// How many events went missing in gaps so far.
    public var missed: Int { handle.missed }

    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
    public struct Iterator: AsyncIteratorProtocol {
        let stream: EventStream
        public func next() async -> Delivery<Payload>? { await next(isolation: nil) }
        public func next(isolation: isolated (any Actor)?) async -> Delivery<Payload>? {
            switch await stream.buffer.next(isolation: isolation) {
            case .event(let box, let stamp)?: .event(stream.unbox(box), stamp)
            case .gap(let gap)?: .gap(gap)
            case nil: nil
            }
        }
    }
}

final class StreamBuffer: SubscriptionBody, BufferedDelivery {
    typealias Waiter = UnsafeContinuation<DeliveryQueue.Entry?, Never>
    private struct State {
        var queue: DeliveryQueue
        var waiters: [(id: UInt64, continuation: Waiter)] = []
        var lastID: UInt64 = 0
        var isEnded = false
    }
    private let state: Mutex<State>
    private let onCancel: @Sendable (StreamBuffer) -> Void
    var showsStamps: Bool { true }

    init(_ buffer: EventBuffer, onCancel: @escaping @Sendable (StreamBuffer) -> Void) {
        state = Mutex(State(queue: DeliveryQueue(buffer)))
        self.onCancel = onCancel
    }
    var isActive: Bool { state.withLock { !$0.isEnded } }
    var missed: Int { state.withLock { $0.queue.missed } }

    func offer(_ event: AnyEventBox, _ stamp: Stamp) -> Wakeup? {
        offer(.event(event, stamp)) { $0.push(event, stamp) }
    }
    func offer(_ gap: Gap) -> Wakeup? { offer(.gap(gap)) { $0.push(gap) } }

    private func offer(_ entry: DeliveryQueue.Entry, _ push: (inout DeliveryQueue) -> DeliveryQueue.Outcome) -> Wakeup?
    {
        let waiter = state.withLock { state -> Waiter? in
            if state.isEnded { return nil }
            if !state.waiters.isEmpty { return state.waiters.removeFirst().continuation }
            _ = push(&state.queue)
            return nil
        }
        return waiter.map { .deliver($0, entry) }
    }
    func end() { end(keepingBuffered: true) }
    func end(keepingBuffered: Bool) {
        let waiters = state.withLock { state in
            state.isEnded = true
            if !keepingBuffered { state.queue.removeAll() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }
    func cancel() {
        end(keepingBuffered: false)
        onCancel(self)
    }
    func next(isolation: isolated (any Actor)?) async -> DeliveryQueue.Entry? {
        let (ready, id) = state.withLock { state in
            state.lastID += 1
            return (state.queue.pop(), state.lastID)
        }
        if let ready { return ready }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let ready: DeliveryQueue.Entry?? = state.withLock { state in
                    if let entry = state.queue.pop() { return .some(entry) }
                    if state.isEnded || state.queue.isClosed || Task.isCancelled { return .some(nil) }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume(returning: nil)
        }
    }
}
