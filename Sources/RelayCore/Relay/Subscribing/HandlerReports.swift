import Synchronization

/// The first error with which a handler has ended its subscription.
final class FailedHandlers: Sendable {
    private struct State {
        var first: (any Error)?
        var listeners: [AsyncStream<any Error>.Continuation] = []
    }
    private let state = Mutex(State())

    func note(_ error: any Error) {
        let listeners = state.withLock { state in
            if state.first == nil { state.first = error }
            return state.listeners
        }
        for listener in listeners { listener.yield(error) }
    }
    /// That error, as soon as there is one.
    func errors() -> AsyncStream<any Error> {
        let (stream, listener) = AsyncStream.makeStream(of: (any Error).self, bufferingPolicy: .bufferingOldest(1))
        state.withLock { state in
            state.listeners.append(listener)
            if let first = state.first { listener.yield(first) }
        }
        return stream
    }
}

extension EventRelay {
    /// Where a subscription reports what becomes of its handler.
    ///
    /// - Parameter what: what it is subscribed to.
    /// - Parameter object: the object that it is held for, if there is one.
    func reporter(of what: String, for object: WeakReference? = nil) -> @Sendable (HandlerReport) -> Void {
        { [notices, failures, service, interests, object] report in
            switch report {
            case .threw(let error, let pause):
                notices.report(
                    .handlerFailed, .warning,
                    "a handler of \(what) of \(service) threw \(RelayError.kinds(of: error)): it is called again in "
                        + "\(pause) with the same event", cause: error)
            case .ended(let error):
                notices.report(
                    .handlerFailed, .error,
                    "a handler of \(what) of \(service) threw \(RelayError.kinds(of: error)) once more: its subscription "
                        + "has ended before that event", cause: error)
                failures.note(error)
            case .released: if let object { interests.subscriberReleased(object) }
            }
        }
    }
}
