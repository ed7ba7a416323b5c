import RelayCore
import Synchronization

/// Wakes the one task that waits, or the next one that does.
package final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
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
    /// Returns when it has rung since the last wait, when the task is cancelled, or after a while.
    package func wait(atMost duration: Duration) async {
        let timer = OwnTimer(after: duration) { [weak self] in self?.ring() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRung || Task.isCancelled || state.waiter != nil {
                        state.isRung = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
        timer.cancel()
    }
}
