import Synchronization

/// The task in which a positioned subscription calls handlers that may wait: how it begins and ends, and its error.
final class HandlerTask<Payload: Sendable>: Sendable {
    let source: ReplaySource<Payload>
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let error = Mutex<(any Error)?>(nil)
    /// Takes nothing more; what was taken may end.
    private let isStopping = Atomic(false)
    /// Before handlers that threw are called again.
    private let pauses = Mutex<[UInt64: Task<Void, any Error>]>([:])
    private let pauseCount = Atomic<UInt64>(0)

    init(_ source: ReplaySource<Payload>) {
        self.source = source
        source.feed.isHandled.store(true, ordering: .relaxed)
    }
    /// Detached: a subscription must not inherit its maker's priority and task-local values.
    func begin(on executor: any TaskExecutor, _ body: @escaping @Sendable () async -> Void) {
        task.withLock { $0 = Task.detached(executorPreference: executor) { await body() } }
    }
    var takes: Bool { source.isActive && mayHandle }
    /// Whether handlers are called with what was taken: also when nothing more comes, as the relay has ended by itself.
    var mayHandle: Bool { !source.feed.isCancelled && !isStopping.load(ordering: .sequentiallyConsistent) }
    var failure: (any Error)? { error.withLock { $0 } }
    func fail(_ error: any Error) { self.error.withLock { $0 = error } }
    func cancel() {
        source.cancel()
        task.withLock { $0 }?.cancel()
    }
    /// Waits before a handler is called again; false: it is not to be. The end of a relay waits for handlers, and for no
    /// pause of them.
    func pause(for duration: Duration) async -> Bool {
        let number = pauseCount.wrappingAdd(1, ordering: .relaxed).newValue
        let sleep = Task { try await Task.sleep(for: duration) }
        pauses.withLock { $0[number] = sleep }
        // It may have begun before the pause was entered.
        if !mayHandle { sleep.cancel() }
        await withTaskCancellationHandler {
            _ = await sleep.result
        } onCancel: {
            sleep.cancel()
        }
        pauses.withLock { $0[number] = nil }
        return mayHandle && !Task.isCancelled
    }
    func finish() async {
        isStopping.store(true, ordering: .sequentiallyConsistent)
        for pause in pauses.withLock({ Array($0.values) }) { pause.cancel() }
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
