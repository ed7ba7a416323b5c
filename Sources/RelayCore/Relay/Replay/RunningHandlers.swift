import Synchronization

/// A subscription whose handlers can be waited for.
protocol AwaitableSubscription: SubscriptionBody, HandlerHost {
    /// Takes nothing more, and returns when its handler has returned, if that may wait.
    func finish() async
}

extension AwaitableSubscription {
    func finish() async {}
}

/// A relay's positioned subscriptions that have handlers: all of them end with the relay.
final class RunningHandlers: Sendable {
    private struct State {
        /// Each is held by its `Subscription`.
        var bodies: [WeakReference] = []
        /// Past so many, those that are gone are looked for.
        var limit = 16
        var isOver = false
    }
    private let state = Mutex(State())

    /// One that begins. After the end it is cancelled at once.
    func add(_ body: any AwaitableSubscription) {
        let suspects = state.withLock { state -> [WeakReference]? in
            if state.isOver { return nil }
            state.bodies.append(WeakReference(body))
            return state.bodies.count >= state.limit ? state.bodies : []
        }
        guard let suspects else { return body.cancel() }
        if suspects.isEmpty { return }
        let gone = Set(suspects.filter { $0.object == nil }.map { ObjectIdentifier($0) })
        state.withLock { state in
            state.bodies.removeAll { gone.contains(ObjectIdentifier($0)) }
            state.limit = max(16, 2 * state.bodies.count)
        }
    }
    private func bodies(_ entries: (inout State) -> [WeakReference]) -> [any AwaitableSubscription] {
        state.withLock { entries(&$0) }.compactMap { $0.object as? any AwaitableSubscription }
    }
    /// Whether that thread is within one of the handlers; also after the end.
    func isHandling(on thread: UInt) -> Bool {
        bodies { $0.bodies }.contains { $0.handlerThread == thread }
    }
    /// Lets none take anything more, and returns when the handlers that wait have returned. After `patience` all are
    /// cancelled; one that ignores that for another second is left behind.
    func finish(patience: Duration) async {
        let bodies = bodies { $0.bodies }
        // Detached: the task that ends a program is cancelled.
        let all = Task.detached {
            await withDiscardingTaskGroup { group in for body in bodies { group.addTask { await body.finish() } } }
        }
        if await all.value(until: .now + patience) != nil { return }
        for body in bodies { body.cancel() }
        _ = await all.value(until: .now + .seconds(1))
    }
    /// Cancels all.
    ///
    /// - Returns: their handlers, some of which may run still.
    func end() -> EndedHandlers {
        let bodies = bodies { state in
            state.isOver = true
            return state.bodies
        }
        for body in bodies { body.cancel() }
        return EndedHandlers(bodies)
    }
}
