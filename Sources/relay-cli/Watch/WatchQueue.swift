import Synchronization

/// Between the bus's thread, which must never wait, and a terminal, which may.
final class WatchQueue: Sendable {
    private struct State {
        var inputs: BoundedInputs
        var discovery: Result<Catalogue, CLIFailure>?
    }
    private let state: Mutex<State>
    private let wakeup: Wakeup

    init(limit: Int = 65_536, bytes: Int = 64 << 20, wakeup: Wakeup) {
        state = Mutex(State(inputs: BoundedInputs(limit: limit, bytes: bytes)))
        self.wakeup = wakeup
    }

    /// From any thread.
    func append(_ input: WatchInput) {
        let wasEmpty = state.withLock { state in
            defer { state.inputs.append(input) }
            return state.inputs.isEmpty
        }
        if wasEmpty { wakeup.wake() }
    }
    /// What the service told about itself; past all events, as they cannot be read without it.
    func post(_ discovery: Result<Catalogue, CLIFailure>) {
        state.withLock { $0.discovery = discovery }
        wakeup.wake()
    }

    func takeAll() -> [WatchInput] { state.withLock { $0.inputs.takeAll() } }
    func takeDiscovery() -> Result<Catalogue, CLIFailure>? {
        state.withLock { state in
            defer { state.discovery = nil }
            return state.discovery
        }
    }
}
