import Synchronization

/// Where a service is in its one life, and which caller ends it.
final class ServiceLife: Sendable {
    enum Phase: Sendable {
        case prepared, starting, ended
        /// Owns the name. Somebody ends it, or nobody yet.
        case started(hasEnder: Bool)
    }
    private struct State {
        var phase = Phase.prepared
        var waiters: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// Changes the phase, if `change` returns another one. Returns the phase before.
    @discardableResult
    func move(_ change: (Phase) -> Phase?) -> Phase {
        let (before, waiters) = state.withLock { state -> (Phase, [CheckedContinuation<Void, Never>]) in
            let before = state.phase
            guard let after = change(before) else { return (before, []) }
            state.phase = after
            defer { state.waiters = [] }
            return (before, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return before
    }
    /// Waits for the next phase, if `isPatient` accepts the present one; else returns at once.
    func wait(while isPatient: (Phase) -> Bool) async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                if isPatient(state.phase) {
                    state.waiters.append(continuation)
                    return true
                }
                return false
            }
            if !mustWait { continuation.resume() }
        }
    }
}
