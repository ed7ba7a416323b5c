import Synchronization

/// One job of a service's queues, as the tasks know it that run it or began within it.
///
/// Such a task may be awaited by the job: so it must not wait for the job's end. A task that outlives the job may.
final class CommandScope: Sendable {
    /// Inherited by child tasks, and by tasks that are not detached.
    @TaskLocal static var current: CommandScope?

    private let queues: ObjectIdentifier
    private let isOver = Atomic<Bool>(false)

    /// - Parameter queues: which live as long as their jobs.
    init(_ queues: CommandQueues) { self.queues = ObjectIdentifier(queues) }
    func end() { isOver.store(true, ordering: .releasing) }
    func isWithin(_ queues: CommandQueues) -> Bool {
        self.queues == ObjectIdentifier(queues) && !isOver.load(ordering: .acquiring)
    }
}
