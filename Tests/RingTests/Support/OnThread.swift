import Glibc

/// Runs what may block on a thread of its own: the tasks' threads are few.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let work = ThreadWork { continuation.resume(with: Swift.Result(catching: body)) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(work)
        let failed = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        if failed != 0 { context.takeRetainedValue().run() } else { pthread_detach(thread) }
    }
}
private final class ThreadWork: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
