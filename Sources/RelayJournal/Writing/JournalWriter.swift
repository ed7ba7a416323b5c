import Glibc
import RelayCore
import Synchronization

/// The thread that writes, and the queue before it.
///
/// Queued work is committed together with what arrives until the commit is done: by a *leader*, on a thread of the
/// cooperative pool, so that no thread has to be woken; or by the thread, which also does what takes longer.
/// `WriterQueue` hands the engine out.
final class JournalWriter: @unchecked Sendable {  // `lock` is the thread's.
    private struct State {
        var queue: WriterQueue<JournalEngine>
        var failure: RelayError?
        var observers: [@Sendable (RelayError) -> Void] = []
        var discardsUnused = false
    }
    private let state: Monitor<State>
    let path: String
    /// Counts the groups that were committed.
    private let commits = Atomic<UInt64>(0)
    /// Somebody's state may be in the file, though it has no event.
    private let isUsed = Atomic<Bool>(false)
    private let permit: CommitPermit?
    private let snapshots: SnapshotReaders
    private var lock: DirectoryLock?

    init(
        _ engine: sending JournalEngine, path: String, _ permit: CommitPermit?, _ snapshots: SnapshotReaders
    ) {
        (self.path, self.permit, self.snapshots) = (path, permit, snapshots)
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

    /// Takes work, and always finishes it, perhaps before this returns: with a refusal after `stop`. A call is dropped
    /// then, and false returned.
    @discardableResult
    func submit(_ work: JournalWork) -> Bool {
        switch state.withLock({ $0.queue.accept(work, by: pthread_self(), permit) }) {
        case .refused:
            work.finish(closed())
            return false
        case .queued(let next): go(on: next)
        case .lead(let engine):
            var works = [work]
            lead(&works, engine)
        }
        return true
    }
    private func go(on next: WriterQueue<JournalEngine>.Next) {
        switch next {
        case .nothing: break
        case .wake: state.announce()
        case .schedule:
            Task.detached(executorPreference: HandlerThreads.own) { [self] in
                var works: [JournalWork] = []
                if let engine = state.withLock({ $0.queue.takeLead(&works, by: pthread_self()) }) {
                    lead(&works, engine)
                } else {
                    permit?.giveBack()
                }
            }
        }
    }
    private func lead(_ works: inout [JournalWork], _ engine: JournalEngine) {
        let outcome = commit(&works, engine, asLeader: true)
        let due = engine.nextMaintenance()
        permit?.giveBack()
        let next = state.withLock { $0.queue.putBack(engine, due: due, permit) }
        outcome?.finish(works)
        // After that: a caller that goes on may submit again before the next leader.
        go(on: next)
    }
    func closed() -> RelayError { RelayError(.unavailable, "the journal \(path) is closed: nothing was done") }

    /// Finishes what was submitted, and ends the thread, which closes the file once no snapshot is read any more.
    /// Returns when that is done, unless called from within what is done with the engine: then it is done after that.
    ///
    /// - Parameter waits: false within a read of a snapshot.
    func stop(waits: Bool) {
        let isWithin = state.withLock { state in
            state.queue.end()
            return state.queue.isTaken(by: pthread_self())
        }
        state.announce()
        if isWithin || !waits { return }
        _ = state.wait { $0.queue.isClosed ? true : nil }
    }
    /// What this run has made is removed at the end, if it has no event.
    /// A unit of work begins that is no migration's.
    func noteUse() { isUsed.store(true, ordering: .relaxed) }
    func discardUnused() { state.withLock { $0.discardsUnused = true } }
    func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) {
        let failure = state.withLock { state in
            if state.failure == nil { state.observers.append(body) }
            return state.failure
        }
        if let failure { body(failure) }
    }
    var present: LogActivity {
        let commits = commits.load(ordering: .relaxed)
        return state.withLock {
            LogActivity(isBusy: $0.queue.isBusy, commits: commits, turns: $0.queue.turns)
        }
    }
    var waiting: Int { state.withLock { $0.queue.works.count } }
    var failure: RelayError? { state.withLock { $0.failure } }

    // MARK: With the engine

    /// Work that arrives meanwhile shares the commit. Finish the outcome's callers after the engine was put back: they
    /// find it there when they submit again.
    private func commit(_ works: inout [JournalWork], _ engine: JournalEngine, asLeader: Bool) -> GroupOutcome? {
        let outcome = engine.run(&works) { works in
            state.withLock { $0.queue.takeMore(&works, asLeader: asLeader) }
        }
        commits.add(1, ordering: .relaxed)
        reportFailure(of: engine)
        return outcome
    }
    private func reportFailure(of engine: JournalEngine) {
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
        let file = engine?.file
        // A read that is still in its transaction would keep the WAL from being moved into the file.
        snapshots.waitForEnd()
        let isClean = engine?.finish() ?? false
        let isUnused = (engine?.isUnused ?? false) && !isUsed.load(ordering: .relaxed)
        let isDiscarded = state.withLock { $0.discardsUnused } && isUnused
        var reserve = engine?.reserve
        // Closed before the lock goes.
        engine = nil
        if let file {
            if file.walSize == 0 { file.marks.restoreClean(file.path) }
            if isClean { file.marks.setClean(file.path) }
        }
        if isDiscarded {
            file?.remove()
            file?.marks.removeAll()
            reserve?.release()
            lock?.remove()
        } else {
            // For the next run: this one may have given it up.
            _ = reserve?.make()
        }
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
        while true {
            let (engine, isOver) = take(&works, until: deadline)
            if isOver { return engine }
            let outcome = works.isEmpty ? nil : commit(&works, engine, asLeader: false)
            if outcome != nil, let due = engine.idleUntil() {
                deadline = due
                state.withLock { $0.queue.putBack(engine, until: deadline) }
                outcome?.finish(works)
                works.removeAll(keepingCapacity: true)
                continue
            }
            // What there is to keep takes longer.
            outcome?.finish(works)
            // Not under the lock: what it held goes here. The queue gets the memory back.
            works.removeAll(keepingCapacity: true)
            deadline = engine.maintain(isIdle: waiting == 0)
            reportFailure(of: engine)
            state.withLock { $0.queue.putBack(engine, until: deadline) }
        }
    }
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
