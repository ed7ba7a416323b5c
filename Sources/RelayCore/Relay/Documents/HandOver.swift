import Synchronization

/// Hands values from one task to another, one at a time: the giver waits until its value was taken.
final class HandOver<Value: Sendable>: Sendable {
    private typealias Taker = UnsafeContinuation<Value?, Never>
    private struct State {
        /// Given, and not taken yet.
        var value: Value?
        var giver: UnsafeContinuation<Void, Never>?
        var takers: [(id: UInt64, continuation: Taker)] = []
        var lastID: UInt64 = 0
        var isFinished = false
        /// Why it is finished; nil: there is no more.
        var failure: RelayError?
    }
    private let state = Mutex(State())

    /// Why nothing more comes, once `take` has returned nil.
    var failure: RelayError? { state.withLock { $0.failure } }
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// By one task at a time. Returns when the value was taken, or nothing is taken any more.
    func give(_ value: Value) async {
        await withUnsafeContinuation { continuation in
            let taker = state.withLock { state -> Taker?? in
                if state.isFinished { return .some(nil) }
                if !state.takers.isEmpty { return .some(state.takers.removeFirst().continuation) }
                (state.value, state.giver) = (value, continuation)
                return nil
            }
            guard let taker else { return }
            taker?.resume(returning: value)
            continuation.resume()
        }
    }
    /// The next value; nil at the end, and for a task that was cancelled.
    func take(isolation: isolated (any Actor)?) async -> Value? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let (answer, giver) = state.withLock { state -> (Value??, UnsafeContinuation<Void, Never>?) in
                    if Task.isCancelled { return (.some(nil), nil) }
                    if let value = state.value {
                        defer { (state.value, state.giver) = (nil, nil) }
                        return (.some(value), state.giver)
                    }
                    if state.isFinished { return (.some(nil), nil) }
                    state.takers.append((id, continuation))
                    return (nil, nil)
                }
                giver?.resume()
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let taker = state.withLock { state in
                state.takers.firstIndex { $0.id == id }.map { state.takers.remove(at: $0).continuation }
            }
            taker?.resume(returning: nil)
        }
    }
    /// Ends it, for good. A value that was not taken yet is dropped.
    func finish(_ failure: RelayError? = nil) {
        let (value, giver, takers) = state.withLock { state in
            defer { (state.value, state.giver, state.takers) = (nil, nil, []) }
            if !state.isFinished { (state.isFinished, state.failure) = (true, failure) }
            return (state.value, state.giver, state.takers)
        }
        withExtendedLifetime(value) {}
        giver?.resume()
        for taker in takers { taker.continuation.resume(returning: nil) }
    }
}
