import Synchronization

/// The service's line in the manager's status: what it does, and what is wrong meanwhile. The same line is not sent
/// again. Neither a line nor a reload is reported before the service is ready or after it has begun to end.
final class StatusLine: Sendable {
    /// What can be added to the line, in this order.
    enum Part: CaseIterable { case storage, delay, reload }
    private struct State {
        var parts: [Part: String] = [:]
        var sent = ""
        var isLive = false
        var isReloading = false
    }
    private let base: String
    private let state = Mutex(State())

    init(_ base: String) { self.base = base }

    /// Sets what is added, or takes it away. Sends the line if that changes it. Lines are sent in the order of the
    /// changes.
    func set(_ part: Part, _ text: String?, _ send: (String) -> Void) {
        state.withLock { state in
            state.parts[part] = text
            let changed = line(of: state)
            if !state.isLive || changed == state.sent { return }
            state.sent = changed
            send(changed)
        }
    }
    /// The service is ready: sends the line.
    func begin(_ send: (String) -> Void) {
        state.withLock { state in
            state.isLive = true
            state.sent = line(of: state)
            send(state.sent)
        }
    }
    /// A reload begins; false: the service has begun to end. What reports it is called under the lock: the manager
    /// believes what it hears last, and would take a service that ends for one that runs.
    func beginReload(_ send: () -> Void) -> Bool {
        state.withLock { state in
            guard state.isLive else { return false }
            state.isReloading = true
            send()
            return true
        }
    }
    /// A reload has ended: sends the line, unless the service has begun to end.
    func endReload(_ failure: String?, _ send: (String) -> Void) {
        state.withLock { state in
            guard state.isLive else { return }
            state.isReloading = false
            state.parts[.reload] = failure
            state.sent = line(of: state)
            send(state.sent)
        }
    }
    /// The service ends. `closeReload` is called if a reload is under way: while one is, the manager does not act on an
    /// end.
    func end(_ closeReload: () -> Void) {
        state.withLock { state in
            if state.isReloading { closeReload() }
            (state.isLive, state.isReloading) = (false, false)
        }
    }

    private func line(of state: State) -> String {
        ([base] + Part.allCases.compactMap { state.parts[$0] }).joined(separator: "; ")
    }
}
