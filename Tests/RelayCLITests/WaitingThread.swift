import Glibc

/// A thread that may wait. A task's may not: with all of them waiting, nothing would go on that they wait for.
final class WaitingThread {
    private let body: @Sendable () -> Void
    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// What the body returns, on a thread of its own that has begun.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Task<Value, Never> {
        Task {
            await withCheckedContinuation { continuation in
                WaitingThread { continuation.resume(returning: body()) }.start()
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
