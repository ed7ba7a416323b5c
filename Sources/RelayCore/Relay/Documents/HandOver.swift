import Synchronization
/// Hands values from one task to another, one at a time: the giver waits until its value was taken.
final class HandOver<Value: Sendable>: Sendable {
    private typealias Takers = QueueConsumer<Value?>
    private struct State {
        enum Phase {
            case empty
            /// Given, and not taken yet.
            case given(Value, by: UnsafeContinuation<Void, Never>)
            /// With the reason; nil: there is no more.
            case finished(RelayError?)
        }
        var phase = Phase.empty
        /// They wait only while it is empty.
        var takers = Takers()
    }
    private let state = Mutex(State())

    /// Why nothing more comes, once `take` has returned nil.
    var failure: RelayError? { state.withLock { if case .finished(let failure) = $0.phase { failure } else { nil } } }
    var isFinished: Bool { state.withLock { if case .finished = $0.phase { true } else { false } } }

    /// By one task at a time. Returns when the value was taken, or nothing is taken any more.
    func give(_ value: Value) async {
        await withUnsafeContinuation { continuation in
            let (isDone, taker) = state.withLock { state -> (Bool, Takers.Waiter?) in
                if case .finished = state.phase { return (true, nil) }
                if let taker = state.takers.takeFirst() { return (true, taker) }
                state.phase = .given(value, by: continuation)
                return (false, nil)
            }
            taker?.resume(returning: value)
            if isDone { continuation.resume() }
        }
    }
    /// The next value; nil at the end, and for a task that was cancelled.
    func take(isolation: isolated (any Actor)?) async -> Value? {
        let ticket = state.withLock { $0.takers.makeTicket() }
        return await Takers.wait(isolation: isolation, cancelled: nil) { waiter in
            let (answer, giver) = state.withLock { state -> (Value??, UnsafeContinuation<Void, Never>?) in
                if Task.isCancelled { return (.some(nil), nil) }
                switch state.phase {
                case .finished: return (.some(nil), nil)
                case .given(let value, let giver):
                    state.phase = .empty
                    return (value, giver)
                case .empty:
                    state.takers.add(waiter, ticket)
                    return (nil, nil)
                }
            }
            giver?.resume()
            return answer
        } leave: {
            state.withLock { $0.takers.remove(ticket) }
        }
    }
    /// Ends it, for good. A value that was not taken yet is dropped.
    func finish(_ failure: RelayError? = nil) {
        let (former, takers) = state.withLock { state -> (State.Phase, [Takers.Waiter]) in
            let former = state.phase
            if case .finished = former { return (former, []) }
            state.phase = .finished(failure)
            return (former, state.takers.takeAll())
        }
        if case .given(_, let giver) = former { giver.resume() }
        for taker in takers { taker.resume(returning: nil) }
    }
}
