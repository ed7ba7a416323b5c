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
    private struct Outcome: Sendable { let error: (any Error)? }
    private let task: Task<Void, Never>
    private let outcomes: AsyncStream<Outcome>
    private let isBounded: Bool

    /// If it throws, the service ends.
    init(_ work: WorkBeside, _ core: ServiceCore) {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        (self.outcomes, isBounded) = (outcomes, work.isBounded)
        task = Task {
            // Awaited by the service: when it stops that, it must not wait for the end.
            let scope = CommandScope(core.queues)
            var failure: (any Error)?
            do { try await CommandScope.$current.withValue(scope) { try await work.body() } } catch {
                let isAsked = Task.isCancelled && (error is CancellationError || .cancelled ~= error)
                if !isAsked { failure = error }
            }
            scope.end()
            outcome.yield(Outcome(error: failure))
            outcome.finish()
            if failure != nil { core.finish(nil) }
        }
    }
    func cancel() { task.cancel() }
    /// What it has thrown, but for its cancellation. Work that ignores that is left behind at the deadline.
    func ended(until deadline: ContinuousClock.Instant) async -> (any Error)? {
        let (outcomes, isBounded) = (outcomes, isBounded)
        // In a task of its own: this one may be cancelled.
        return await Task.detached(executorPreference: HandlerThreads.own) {
            await withTaskGroup(of: Outcome?.self) { group in
                group.addTask {
                    for await outcome in outcomes { return outcome }
                    return nil
                }
                if !isBounded {
                    group.addTask {
                        try? await Task.sleep(until: deadline)
                        return nil
                    }
                }
                let first = await group.next() ?? nil
                group.cancelAll()
                return first
            }
        }.value?.error
    }
}
