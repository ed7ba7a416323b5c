import Synchronization

/// One job of a service's queues, as the tasks know it that run it or began within it.
///
/// Such a task may be awaited by the job: so it must not wait for the job's end. A task that outlives the job may.
final class CommandScope: Sendable {
    /// Inherited by child tasks, and by tasks that are not detached.
    @TaskLocal static var current: CommandScope?

    /// The service's queues, which live as long as their jobs.
    fileprivate let queues: ObjectIdentifier
    private let hasEnded = Atomic<Bool>(false)

    init(_ queues: CommandQueues) { self.queues = ObjectIdentifier(queues) }
    func end() { hasEnded.store(true, ordering: .releasing) }
    fileprivate var isOver: Bool { hasEnded.load(ordering: .acquiring) }
}

/// The jobs that wait for the end of a service.
///
/// A service ends when its jobs have ended. A job may wait for the end of another service, one of whose jobs waits for
/// the first: none of them would go on before its patience is over. So each job looks whether what it waits for waits
/// for it, over any number of services.
final class ServiceWaits: Sendable {
    final class Wait: Sendable {
        fileprivate let scope: CommandScope?
        fileprivate let awaited: ObjectIdentifier
        fileprivate init(_ scope: CommandScope?, _ awaited: ObjectIdentifier) {
            (self.scope, self.awaited) = (scope, awaited)
        }
    }
    private let waits = Mutex<[Wait]>([])

    /// Of the whole process, as a circle may lead through any of its services.
    static let ofProcess = ServiceWaits()

    /// Begins a wait of the calling task for the end of a service's jobs. Returns nil if they wait for the caller.
    func begin(for queues: CommandQueues) -> Wait? {
        let scope = CommandScope.current.flatMap { $0.isOver ? nil : $0 }
        let wait = Wait(scope, ObjectIdentifier(queues))
        guard let scope else { return wait }
        return waits.withLock { waits in
            var (seen, open) = ([wait.awaited], [wait.awaited])
            while let next = open.popLast() {
                if next == scope.queues { return nil }
                for other in waits where other.scope?.queues == next && other.scope?.isOver == false {
                    if seen.contains(other.awaited) { continue }
                    seen.append(other.awaited)
                    open.append(other.awaited)
                }
            }
            waits.append(wait)
            return wait
        }
    }
    func end(_ wait: Wait) {
        if wait.scope != nil { waits.withLock { $0.removeAll { $0 === wait } } }
    }
}
