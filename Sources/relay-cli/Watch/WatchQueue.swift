import Synchronization

/// Between the bus's thread, which must never wait, and a terminal, which may.
final class WatchQueue: Sendable {
    /// What came of an action. Past all events: they cannot be read before it.
    enum Answer: Sendable {
        case discovered(Discovery.Outcome)
        case following
        /// In place of `following`: where events are to be taken from, and what there is to say.
        case begun([WatchSource], notes: [String])
        case refused(CLIFailure)
    }
    private struct State {
        var inputs: BoundedInputs
        var answers: [Answer] = []
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
    /// One for each action, so that there are never many.
    func post(_ answer: Answer) {
        state.withLock { $0.answers.append(answer) }
        wakeup.wake()
    }

    func takeAll() -> [WatchInput] { state.withLock { $0.inputs.takeAll() } }
    func takeAnswers() -> [Answer] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }
}
