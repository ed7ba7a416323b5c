import CRelayShims
import Glibc
import RelayCore
import Synchronization

/// The thread that writes, and the queue before it.
///
/// Takes what has queued up while it worked, and commits it together: there is no waiting window.
final class JournalWriter: @unchecked Sendable {  // `engine` and `lock` are the thread's.
    private struct Queue {
        var works: [JournalWork] = []
        var isWaiting = false
        var isEnding = false
        var hasEnded = false
        var failure: RelayError?
        var observers: [@Sendable (RelayError) -> Void] = []
    }
    private let queue = Monitor(Queue())
    private let path: String
    private let activity: JournalActivity
    private var engine: JournalEngine?
    private var lock: DirectoryLock?
    private var thread: pthread_t?
    /// So many callers share a commit at most.
    private static let groupLimit = 512

    init(_ engine: sending JournalEngine, path: String, _ activity: JournalActivity) {
        (self.engine, self.path, self.activity) = (engine, path, activity)
    }
    /// Starts the thread, which keeps this alive, and the directory's lock, until `stop`.
    func start(_ lock: consuming DirectoryLock) throws(RelayError) {
        self.lock = consume lock
        let context = Unmanaged.passRetained(self)
        let failed = relay_start_thread(
            "journal",
            { context in
                // Never nil: passed below. The reference goes with the scope, on the thread.
                guard let context else { return }
                Unmanaged<JournalWriter>.fromOpaque(context).takeRetainedValue().runThread()
            }, context.toOpaque())
        if failed != 0 {
            context.release()
            throw RelayError(
                .unavailable, "no thread for the journal \(path): \(SystemError(failed))", cause: SystemError(failed))
        }
    }

    // MARK: From any thread

    /// Takes work, and always finishes it: with a refusal after `stop`. A call is dropped then, and false returned.
    @discardableResult
    func submit(_ work: JournalWork) -> Bool {
        let (isTaken, mustWake) = queue.withLock { queue in
            if queue.isEnding { return (false, false) }
            queue.works.append(work)
            defer { queue.isWaiting = false }
            return (true, queue.isWaiting)
        }
        if mustWake { queue.announce() }
        if !isTaken { work.finish(closed()) }
        return isTaken
    }
    func closed() -> RelayError { RelayError(.unavailable, "the journal \(path) is closed: nothing was done") }

    /// Finishes what was submitted, and ends the thread; returns when the file is closed, but on the thread itself.
    func stop() {
        queue.withLock { $0.isEnding = true }
        queue.announce()
        if isCurrent { return }
        _ = queue.wait { $0.hasEnded ? true : nil }
    }
    func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) {
        let failure = queue.withLock { queue in
            if queue.failure == nil { queue.observers.append(body) }
            return queue.failure
        }
        if let failure { body(failure) }
    }
    var waiting: Int { queue.withLock { $0.works.count } }
    var failure: RelayError? { queue.withLock { $0.failure } }

    // MARK: The thread

    private var isCurrent: Bool { queue.withLock { _ in thread } == pthread_self() }

    private func runThread() {
        queue.withLock { _ in thread = pthread_self() }
        // In a scope of its own: closed before the lock goes.
        if let engine { loop(engine) }
        engine = nil
        lock = nil
        queue.withLock { queue in
            // Before the thread is gone, so that no later one with the same number is taken for it.
            thread = nil
            (queue.hasEnded, queue.observers) = (true, [])
        }
        queue.announce()
    }
    private func loop(_ engine: JournalEngine) {
        var works: [JournalWork] = []
        var next = engine.keep(isIdle: true)
        while take(&works, until: next) {
            if !works.isEmpty {
                engine.run(works)
                activity.commits.add(1, ordering: .relaxed)
            }
            // Not under the lock: what it held goes here. The queue gets the memory back.
            works.removeAll(keepingCapacity: true)
            if engine.failure != nil { tell(engine) }
            next = engine.keep(isIdle: queue.withLock { $0.works.isEmpty })
            if engine.failure != nil { tell(engine) }
        }
        engine.finish()
    }
    /// Takes what has queued up; nothing when the time is over. Returns false at the end.
    ///
    /// - Parameter works: empty.
    private func take(_ works: inout [JournalWork], until deadline: UInt64) -> Bool {
        queue.wait(until: deadline) { queue -> Bool? in
            if queue.works.isEmpty {
                if queue.isEnding { return false }
                queue.isWaiting = true
                return nil
            }
            queue.isWaiting = false
            if queue.works.count <= Self.groupLimit {
                swap(&works, &queue.works)
            } else {
                works.append(contentsOf: queue.works.prefix(Self.groupLimit))
                queue.works.removeFirst(Self.groupLimit)
            }
            return true
        } ?? true
    }
    private func tell(_ engine: JournalEngine) {
        let failure = engine.failure
        let observers = queue.withLock { queue in
            if queue.failure == nil { queue.failure = failure }
            defer { queue.observers = [] }
            return queue.observers
        }
        if let failure { for observer in observers { observer(failure) } }
    }
}
