import Synchronization

/// How a child ended: filled in by its keeper thread, also when nobody holds the `ChildProcess` any more.
final class ChildExit: Sendable {
    private struct State {
        var exit: ChildProcess.Exit?
        var waiters: [CheckedContinuation<ChildProcess.Exit, Never>] = []
    }
    private let state = Mutex(State())

    var exit: ChildProcess.Exit? { state.withLock { $0.exit } }

    /// Runs `body` unless it has ended. Under the lock, and `finish` comes before the reaping: the id is the child's.
    func ifRunning(_ body: () -> Void) { state.withLock { if $0.exit == nil { body() } } }

    func wait() async -> ChildProcess.Exit {
        await withCheckedContinuation { continuation in
            let exit = state.withLock { state -> ChildProcess.Exit? in
                if state.exit == nil { state.waiters.append(continuation) }
                return state.exit
            }
            if let exit { continuation.resume(returning: exit) }
        }
    }
    func finish(_ status: Int32) {
        let exit: ChildProcess.Exit =
            switch (status, status & 0x7F) {
            case (..<0, _): .unknown
            case (_, 0): .code((status >> 8) & 0xFF)
            case (_, let signal): .signal(signal)
            }
        let waiters = state.withLock { state in
            state.exit = exit
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: exit) }
    }
}
