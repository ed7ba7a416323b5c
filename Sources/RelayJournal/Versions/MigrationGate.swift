import Synchronization

/// Lets one migration of a journal run at a time, FIFO: a second one would back up what the first is changing.
final class MigrationGate: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// Returns when it is the caller's turn, which ends with `leave`.
    func enter() async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return true
                }
                state.isTaken = true
                return false
            }
            if !mustWait { continuation.resume() }
        }
    }
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
