import Synchronization

/// A subscription that is called on the publishing thread.
final class ImmediateSubscriber: SubscriptionBody {
    /// Knows the event's type; gets a pointer to one.
    let call: @Sendable (UnsafeRawPointer) -> Void
    private let gapHandler: @Sendable (Gap) -> Void
    private let cancelled = Atomic<Bool>(false)
    private let missedEvents = Mutex(0)
    private let onCancel: @Sendable (ImmediateSubscriber) -> Void

    init(
        _ call: @escaping @Sendable (UnsafeRawPointer) -> Void, _ gapHandler: @escaping @Sendable (Gap) -> Void,
        onCancel: @escaping @Sendable (ImmediateSubscriber) -> Void
    ) {
        (self.call, self.gapHandler, self.onCancel) = (call, gapHandler, onCancel)
    }
    @inline(__always) func take(_ event: UnsafeRawPointer) { if isActive { call(event) } }
    @inline(__always) var isActive: Bool { !cancelled.load(ordering: .relaxed) }
    var missed: Int { missedEvents.withLock { $0 } }

    func call(_ gap: Gap) {
        guard isActive else { return }
        missedEvents.withLock { $0 = Gap.sum($0, gap.count ?? 1) ?? .max }
        gapHandler(gap)
    }
    func cancel() {
        if cancelled.exchange(true, ordering: .sequentiallyConsistent) { return }
        onCancel(self)
    }
    /// The publisher is gone.
    func end() { cancelled.store(true, ordering: .relaxed) }
}

/// Sees every event of a publisher, on the publishing thread.
final class Tap: SubscriptionBody {
    private let handler: @Sendable (any Event) -> Void
    private let onCancel: @Sendable (Tap) -> Void
    private let cancelled = Atomic<Bool>(false)

    init(_ handler: @escaping @Sendable (any Event) -> Void, onCancel: @escaping @Sendable (Tap) -> Void) {
        (self.handler, self.onCancel) = (handler, onCancel)
    }
    var isActive: Bool { !cancelled.load(ordering: .relaxed) }
    var missed: Int { 0 }
    func call(_ event: any Event) { if isActive { handler(event) } }
    func cancel() {
        if cancelled.exchange(true, ordering: .sequentiallyConsistent) { return }
        onCancel(self)
    }
    /// The publisher is gone.
    func end() { cancelled.store(true, ordering: .relaxed) }
}
