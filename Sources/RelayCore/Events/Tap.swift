import Synchronization

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
