import Dispatch

/// A queue or a foreign main loop as an actor: what an object's `on`, which may await, needs to be called there.
///
/// One task alone may use an instance, so that its jobs are exclusive also on a concurrent queue.
actor SerialPlace {
    private nonisolated let executor: PlaceExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ queue: DispatchQueue) { executor = PlaceExecutor { job in queue.async { job() } } }
    init(_ target: PollableTarget) { executor = PlaceExecutor { job in target.enqueue(job) } }
}

/// Runs a task's jobs as the jobs of something else.
private final class PlaceExecutor: SerialExecutor {
    private let submit: @Sendable (@escaping @Sendable () -> Void) -> Void
    init(_ submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.submit = submit }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
