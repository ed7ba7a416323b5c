import Synchronization

/// The service's line in the manager's status: what it does, and what is wrong meanwhile. The same line is not sent
/// again, and none before the service is ready or after it has begun to end.
final class StatusLine: Sendable {
    /// What can be added to the line, in this order.
    enum Part: CaseIterable { case storage, delay, reload }
    private struct State {
        var parts: [Part: String] = [:]
        var sent = ""
        var isLive = false
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
    /// Sets what is added, or takes it away, and sends nothing.
    func set(_ part: Part, _ text: String?) { state.withLock { $0.parts[part] = text } }
    /// Sends the line in any case.
    func send(_ send: (String) -> Void) {
        state.withLock { state in
            state.sent = line(of: state)
            send(state.sent)
        }
    }
    /// The service is ready: sends the line.
    func begin(_ send: (String) -> Void) {
        state.withLock { $0.isLive = true }
        self.send(send)
    }
    func end() { state.withLock { $0.isLive = false } }

    private func line(of state: State) -> String {
        ([base] + Part.allCases.compactMap { state.parts[$0] }).joined(separator: "; ")
    }
}
