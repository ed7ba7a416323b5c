import Dispatch

/// A job that runs once, later, on Relay's own threads; unless it is cancelled before.
///
/// In real time, and whatever the code of users does: the runtime's own sleep ends by a job of the cooperative pool, whose
/// threads that code can hold. Nothing is kept until then but what the job keeps.
package final class OwnTimer: Sendable {
    /// A serial queue has a thread besides those of the pool.
    private static let queue = DispatchQueue(label: "relay-timers")
    nonisolated(unsafe) private let item: DispatchWorkItem  // Its cancellation may come from any thread.

    @discardableResult package init(after duration: Duration, _ body: @escaping @Sendable () -> Void) {
        item = DispatchWorkItem { Task.detached(executorPreference: HandlerThreads.own) { body() } }
        let nanoseconds = Int(clamping: MonotonicClock.nanoseconds(duration))
        Self.queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: item)
    }
    package func cancel() { item.cancel() }

    /// - Cancellation: none.
    package static func sleep(for duration: Duration) async {
        await withCheckedContinuation { continuation in _ = OwnTimer(after: duration) { continuation.resume() } }
    }
}
