import Glibc
import Synchronization
/// A thread that may wait. A task's may not: with all of them waiting, nothing would go on that they wait for.
final class WaitingThread {
    private let body: @Sendable () -> Void
    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// What the body returns, on a thread of its own that has begun: it needs none of the tasks' threads.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Task<Value, Never> {
        let outcome = Outcome<Value>()
        WaitingThread { outcome.set(body()) }.start()
        return Task { await outcome.value }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private enum State { case running, awaited(CheckedContinuation<Value, Never>), done(Value) }
        private let state = Mutex(State.running)

        func set(_ value: Value) {
            let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
                defer { state = .done(value) }
                if case .awaited(let waiter) = state { return waiter }
                return nil
            }
            waiter?.resume(returning: value)
        }
        /// For one who waits.
        var value: Value {
            get async {
                await withCheckedContinuation { continuation in
                    let value = state.withLock { state -> Value? in
                        if case .done(let value) = state { return value }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let value { continuation.resume(returning: value) }
                }
            }
        }
    }

    private func start() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<WaitingThread>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, context)
        pthread_detach(thread)
    }
}
