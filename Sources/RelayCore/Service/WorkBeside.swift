/// What runs beside a service while that serves.
package struct WorkBeside: Sendable {
    let body: @Sendable () async throws -> Void
    /// It ends by itself, some time after it was cancelled.
    let isBounded: Bool

    package init(isBounded: Bool = false, _ body: @escaping @Sendable () async throws -> Void) {
        (self.body, self.isBounded) = (body, isBounded)
    }
}

/// The same, begun.
final class RunningBeside: Sendable {
    private let task: Task<(any Error)?, Never>
    private let isBounded: Bool

    /// If it throws, the service ends.
    init(_ work: WorkBeside, _ core: ServiceCore) {
        isBounded = work.isBounded
        task = Task {
            // Awaited by the service: when it stops that, it must not wait for the end.
            let scope = CommandScope(core.queues)
            defer { scope.end() }
            do {
                try await CommandScope.$current.withValue(scope) { try await work.body() }
                return nil
            } catch {
                if Task.isCancelled, error is CancellationError || .cancelled ~= error { return nil }
                core.finish(nil)
                return error
            }
        }
    }
    func cancel() { task.cancel() }
    /// What it has thrown, but for its cancellation. Work that ignores that is left behind at the deadline.
    func failure(until deadline: ContinuousClock.Instant) async -> (any Error)? {
        if isBounded { return await task.value }
        return await task.value(until: deadline) ?? nil
    }
}
