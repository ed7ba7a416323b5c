import Synchronization

/// The task in which a positioned subscription calls handlers that may wait: how it begins and ends, and its error.
final class HandlerTask<Payload: Sendable>: Sendable {
    let source: ReplaySource<Payload>
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let error = Mutex<(any Error)?>(nil)
    /// Takes nothing more; what was taken may end.
    private let isStopping = Atomic(false)

    init(_ source: ReplaySource<Payload>) {
        self.source = source
        source.feed.isHandled.store(true, ordering: .relaxed)
    }
    /// Detached: a subscription must not inherit its maker's priority and task-local values.
    func begin(on executor: any TaskExecutor, _ body: @escaping @Sendable () async -> Void) {
        task.withLock { $0 = Task.detached(executorPreference: executor) { await body() } }
    }
    var takes: Bool { source.isActive && !isStopping.load(ordering: .sequentiallyConsistent) }
    var failure: (any Error)? { error.withLock { $0 } }
    func fail(_ error: any Error) { self.error.withLock { $0 = error } }
    func cancel() {
        source.cancel()
        task.withLock { $0 }?.cancel()
    }
    func finish() async {
        isStopping.store(true, ordering: .sequentiallyConsistent)
        source.feed.finish()
        await task.withLock { $0 }?.value
    }
}

/// A subscription that calls its handlers in a task.
protocol TaskSubscription: AwaitableSubscription {
    associatedtype Payload: Sendable
    var calls: HandlerTask<Payload> { get }
    func begin()
}

extension TaskSubscription {
    var source: ReplaySource<Payload> { calls.source }
    /// No thread is reported: a handler may wait for the one that ends the relay.
    var handlerThread: UInt { 0 }
    var isActive: Bool { source.isActive }
    var missed: Int { source.feed.missed }
    var failure: (any Error)? { calls.failure }
    func cancel() { calls.cancel() }
    func finish() async { await calls.finish() }
}
