import Synchronization

/// What the bus's side tells `top`, but for events, which are counted.
enum TopInput: Sendable {
    case state(ServiceState)
    case discovered(Discovery.Outcome)
    case following
    /// nil: the service did not tell.
    case status([(interface: String, status: TopStatus?)])
}

/// Between the threads of the bus and that of the screen. One input for each question, and for each time the service comes or goes.
final class TopInbox: Sendable {
    private let inputs = Mutex<[TopInput]>([])
    let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func post(_ input: TopInput) {
        inputs.withLock { $0.append(input) }
        wakeup.wake()
    }
    func take() -> [TopInput] {
        inputs.withLock { inputs in
            defer { inputs = [] }
            return inputs
        }
    }
}
