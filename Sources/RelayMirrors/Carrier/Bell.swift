import RelayCore
import Synchronization

/// Wakes the one task that waits, or the next one that does.
package final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
        /// When the present timer goes off; 0: there is none.
        var deadline: UInt64 = 0
    }
    private let state = Mutex(State())

    package init() {}

    package func ring() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isRung = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }
    /// Returns when it has rung since the last wait, when the task is cancelled, or after a while. That may be a shorter
    /// one: a timer that an earlier wait left behind serves this one, too, as most waits end before theirs.
    package func wait(atMost duration: Duration) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let deadline = MonotonicClock.deadline(after: duration)
                let (isOver, needsTimer) = state.withLock { state in
                    if state.isRung || Task.isCancelled || state.waiter != nil {
                        state.isRung = false
                        return (true, false)
                    }
                    state.waiter = continuation
                    if state.deadline != 0 && state.deadline <= deadline { return (false, false) }
                    state.deadline = deadline
                    return (false, true)
                }
                if isOver { continuation.resume() }
                if needsTimer { OwnTimer(after: duration) { [weak self] in self?.timeHasCome(deadline) } }
            }
        } onCancel: {
            ring()
        }
    }
    private func timeHasCome(_ deadline: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            // Another one has taken its place.
            if state.deadline != deadline { return nil }
            defer { state.waiter = nil }
            state.deadline = 0
            return state.waiter
        }
        waiter?.resume()
    }
}
