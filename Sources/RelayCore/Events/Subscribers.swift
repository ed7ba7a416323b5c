import Synchronization

/// A handler without its type. Asynchronous ones run on the caller's actor, so that nothing comes between the look at
/// `cancelled` and the call.
enum Handler<Value>: Sendable {
    typealias OnCallersActor = nonisolated(nonsending) @Sendable (Value) async -> Void
    case sync(@Sendable (Value) -> Void)
    case async(OnCallersActor)
}

/// A subscription that is called on the publishing thread.
final class ImmediateSubscriber: SubscriptionBody {
    /// Knows the event's type; gets a pointer to one.
    let call: @Sendable (UnsafeRawPointer) -> Void
    private let cancelled = Atomic<Bool>(false)
    private let onCancel: @Sendable (ImmediateSubscriber) -> Void

    init(
        _ call: @escaping @Sendable (UnsafeRawPointer) -> Void,
        onCancel: @escaping @Sendable (ImmediateSubscriber) -> Void
    ) {
        (self.call, self.onCancel) = (call, onCancel)
    }
    @inline(__always) var isActive: Bool { !cancelled.load(ordering: .relaxed) }
    var missed: Int { 0 }
    func cancel() {
        if cancelled.exchange(true, ordering: .sequentiallyConsistent) { return }
        onCancel(self)
    }
}

/// A subscription with a queue of its own, delivered through a mailbox.
final class BufferedSubscriber: SubscriptionBody, BufferedDelivery, @unchecked Sendable {
    let mailbox: Mailbox
    /// Dropped events whose tokens are still in the mailbox. Guarded, as the queue is, by the mailbox's lock.
    var orphans = 0
    private var queue: DeliveryQueue
    private let handler: Handler<AnyEventBox>
    private let gapHandler: Handler<Gap>?
    private let cancelled = Atomic<Bool>(false)
    private let onCancel: @Sendable (BufferedSubscriber) -> Void
    var showsStamps: Bool { false }

    init(
        _ mailbox: Mailbox, _ buffer: EventBuffer, _ handler: Handler<AnyEventBox>, _ gapHandler: Handler<Gap>?,
        onCancel: @escaping @Sendable (BufferedSubscriber) -> Void
    ) {
        (self.mailbox, self.handler, self.gapHandler, self.onCancel) = (mailbox, handler, gapHandler, onCancel)
        queue = DeliveryQueue(buffer)
    }
    var isActive: Bool { !cancelled.load(ordering: .sequentiallyConsistent) }
    var missed: Int { mailbox.state.withLock { _ in queue.missed } }
    func cancel() {
        if cancelled.exchange(true, ordering: .sequentiallyConsistent) { return }
        onCancel(self)
    }
    func end() {}

    func offer(_ event: AnyEventBox, _ stamp: Stamp) -> Wakeup? {
        mailbox.enqueue(self) { state in
            switch queue.push(event, stamp) {
            case .added: return true
            case .dropped: return false
            case .replacedOldest:
                orphans += 1
                state.orphans += 1
                return true
            }
        }
    }
    func offer(_ gap: Gap) -> Wakeup? { mailbox.enqueue(self) { _ in queue.push(gap) == .added } }

    private func pop() -> DeliveryQueue.Entry? {
        mailbox.state.withLock { state in
            if orphans > 0 {
                orphans -= 1
                state.orphans -= 1
                // One gap for a run of losses, right before the next event of its type that survived.
                return orphans == 0 ? queue.popHeadGap() : nil
            }
            return queue.pop()
        }
    }
    /// On the handler's own isolation.
    func deliverNext(isolation: isolated (any Actor)?) async {
        guard let entry = pop(), isActive else { return }
        switch entry {
        case .event(let box, _):
            switch handler {
            case .sync(let body): body(box)
            case .async(let body): await body(box)
            }
        case .gap(let gap):
            switch gapHandler {
            case .sync(let body)?: body(gap)
            case .async(let body)?: await body(gap)
            case nil: break
            }
            endIfClosed()
        }
    }
    func deliverNext() {
        guard let entry = pop(), isActive else { return }
        switch entry {
        case .event(let box, _): if case .sync(let body) = handler { body(box) }
        case .gap(let gap):
            if case .sync(let body)? = gapHandler { body(gap) }
            endIfClosed()
        }
    }
    private func endIfClosed() {
        if mailbox.state.withLock({ _ in queue.isClosed && queue.isEmpty }) { cancel() }
    }
}
