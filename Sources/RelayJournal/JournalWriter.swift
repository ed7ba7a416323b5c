import Glibc
import RelayCore
import Synchronization

/// The thread that writes, and the queue before it.
///
/// The thread takes what has queued up, and commits it together with what comes until it has done that. A caller that finds
/// nothing to share a commit with *leads*: it does its own work on its own thread, and nobody wakes anybody. `WriterQueue` says who
/// has the engine.
final class JournalWriter: @unchecked Sendable {  // `lock` is the thread's.
    private struct State {
        var queue: WriterQueue<JournalEngine>
        var failure: RelayError?
        var observers: [@Sendable (RelayError) -> Void] = []
    }
    private let state: Monitor<State>
    private let path: String
    private let activity: JournalActivity
    private let permit: CommitPermit?
    private var lock: DirectoryLock?

    init(_ engine: sending JournalEngine, path: String, _ activity: JournalActivity, _ permit: CommitPermit?) {
        (self.path, self.activity, self.permit) = (path, activity, permit)
        state = Monitor(State(queue: WriterQueue(engine)))
    }
    /// Starts the thread, which keeps this alive, and the directory's lock, until `stop`.
    func start(_ lock: consuming DirectoryLock) throws(RelayError) {
        self.lock = consume lock
        do throws(SystemError) { try OwnThread.start("journal") { self.runThread() } } catch {
            throw RelayError(.unavailable, "no thread for the journal \(path): \(error)", cause: error)
        }
    }

    // MARK: From any thread

    /// Takes work, and always finishes it, perhaps before this returns: with a refusal after `stop`. A call is dropped then, and
    /// false returned.
    @discardableResult
    func submit(_ work: JournalWork) -> Bool {
        switch state.withLock({ $0.queue.accept(work, by: pthread_self(), permit) }) {
        case .refused:
            work.finish(closed())
            return false
        case .queued(let mustWake): if mustWake { state.announce() }
        case .lead(let engine): lead(work, engine)
        }
        return true
    }
    private func lead(_ work: JournalWork, _ engine: JournalEngine) {
        var works = [work]
        commit(&works, engine) { _ in false }
        let due = engine.nextKeeping()
        permit?.giveBack()
        if state.withLock({ $0.queue.putBack(engine, due: due) }) { state.announce() }
    }
    func closed() -> RelayError { RelayError(.unavailable, "the journal \(path) is closed: nothing was done") }

    /// Finishes what was submitted, and ends the thread; returns when the file is closed, unless called from within what is
    /// done with the engine: then it is closed after that.
    func stop() {
        let isWithin = state.withLock { state in
            state.queue.end()
            return state.queue.isTaken(by: pthread_self())
        }
        state.announce()
        if isWithin { return }
        _ = state.wait { $0.queue.isClosed ? true : nil }
    }
    func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) {
        let failure = state.withLock { state in
            if state.failure == nil { state.observers.append(body) }
            return state.failure
        }
        if let failure { body(failure) }
    }
    var waiting: Int { state.withLock { $0.queue.works.count } }
    var failure: RelayError? { state.withLock { $0.failure } }

    // MARK: With the engine

    private func commit(
        _ works: inout [JournalWork], _ engine: JournalEngine, more: (inout [JournalWork]) -> Bool
    ) {
        engine.run(&works, more: more)
        activity.commits.add(1, ordering: .relaxed)
        tell(engine)
    }
    private func tell(_ engine: JournalEngine) {
        guard let failure = engine.failure else { return }
        let observers = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer(failure) }
    }

    // MARK: The thread

    private func runThread() {
        var engine: JournalEngine? = loop()
        engine?.finish()
        // Closed before the lock goes.
        engine = nil
        lock = nil
        let observers = state.withLock { state in
            // Before the thread is gone, so that no later one with the same number is taken for it.
            state.queue.close()
            defer { state.observers = [] }
            return state.observers
        }
        state.announce()
        // Not under the lock: what they hold goes here.
        _ = consume observers
    }
    /// Returns with the engine when the end has come.
    private func loop() -> JournalEngine {
        var works: [JournalWork] = []
        var deadline: UInt64 = 0
        var last = Group(count: 0, end: 0)
        while true {
            let (engine, isOver) = take(&works, until: deadline)
            if isOver { return engine }
            if !works.isEmpty {
                commit(&works, engine) { takeMore(&$0, after: last) }
                last = (works.count, MonotonicClock.now)
            }
            // Not under the lock: what it held goes here. The queue gets the memory back.
            works.removeAll(keepingCapacity: true)
            deadline = engine.keep(isIdle: waiting == 0)
            tell(engine)
            state.withLock { $0.queue.putBack(engine, until: deadline) }
        }
    }
    private typealias Group = (count: Int, end: UInt64)

    /// Those who came while the group was done share its commit. If they were few, those of the last one are given a moment to
    /// come again, each time that one has: a commit for one of them costs as much as one for all.
    private func takeMore(_ works: inout [JournalWork], after last: Group) -> Bool {
        if state.withLock({ $0.queue.takeMore(&works) }) { return true }
        if works.count >= min(last.count, Self.few) { return false }
        let start = MonotonicClock.now
        if start - last.end > Self.absence { return false }
        repeat {
            // They may need this processor.
            sched_yield()
            if state.withLock({ $0.queue.takeMore(&works) }) { return true }
        } while MonotonicClock.now - start < Self.patience
        return false
    }
    /// Many make up for a commit, whoever is missing.
    private static let few = 15
    /// How long the next one is waited for, in nanoseconds: a small part of an fsync.
    private static let patience: UInt64 = 10_000
    /// Who was not back after so long, in nanoseconds, has something else to do.
    private static let absence: UInt64 = 200_000

    private func take(_ works: inout [JournalWork], until deadline: UInt64) -> (engine: JournalEngine, isOver: Bool) {
        var deadline = deadline
        while true {
            let taken = state.wait(until: deadline) { $0.queue.take(&works, by: pthread_self()) }
            if let taken { return taken }
            state.withLock { $0.queue.wasDue() }
            deadline = .max
        }
    }
}
