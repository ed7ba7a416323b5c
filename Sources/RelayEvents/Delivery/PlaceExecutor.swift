import Dispatch

/// A queue or a foreign main loop as the executor of a task: what a handler that awaits needs to be called there.
///
/// One task alone may use an instance, so that its jobs are exclusive also on a concurrent queue.
package final class PlaceExecutor: TaskExecutor {
    private let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(_ queue: DispatchQueue) { submit = { job in queue.async { job() } } }
    init(_ target: PollableTarget) { submit = { job in target.enqueue(job) } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
