import Glibc
import RelayCore

/// The threads that read the domain's tables: at most two, each with a connection of its own, for all reads of a
/// journal.
///
/// A thread is started when a read finds none free, and ends with the journal. What finds all of them busy waits, in
/// order.
final class SnapshotReaders: Sendable {
    private struct State {
        var waiting: [any SnapshotBody] = []
        /// Those that were started and have not ended.
        var started = 0
        /// Those of them that run.
        var threads: [pthread_t] = []
        /// Those of them that wait for work.
        var idle = 0
        var isEnding = false
    }
    private let state = Monitor(State())
    private let stopped = SnapshotConnection.Stop()
    private let file: JournalFile
    static let limit = 2

    init(_ file: JournalFile) { self.file = file }

    /// Takes a read, and always finishes it: with a refusal after `stop`.
    func submit(_ body: any SnapshotBody) {
        enum Step { case refuse, wake, start }
        let step = state.withLock { state -> Step in
            if state.isEnding { return .refuse }
            state.waiting.append(body)
            if state.idle >= state.waiting.count || state.started == Self.limit { return .wake }
            state.started += 1
            return .start
        }
        switch step {
        case .refuse: body.finish(closed())
        case .wake: state.announce()
        case .start: start()
        }
    }
    private func start() {
        do throws(SystemError) { try OwnThread.start("journal-view") { self.runThread() } } catch {
            let stranded = state.withLock { state -> [any SnapshotBody] in
                state.started -= 1
                // Other threads take what waits.
                if state.started > 0 { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            state.announce()
            for body in stranded {
                body.finish(RelayError(.unavailable, "no thread to read \(file.path): \(error)", cause: error))
            }
        }
    }
    /// Refuses what waits, interrupts what runs, and ends the threads. Does not wait for them.
    ///
    /// - Returns: whether it was called on one of the threads: within a read, which goes on until it returns.
    func stop() -> Bool {
        stopped.set()
        let (waiting, isWithin) = state.withLock { state in
            state.isEnding = true
            defer { state.waiting = [] }
            return (state.waiting, state.threads.contains(pthread_self()))
        }
        state.announce()
        for body in waiting { body.finish(closed()) }
        return isWithin
    }
    /// Returns when the connections are closed, after `stop`. Never on one of the threads.
    func waitForEnd() { _ = state.wait { $0.started == 0 ? true : nil } }
    private func closed() -> RelayError {
        RelayError(.unavailable, "the journal \(file.path) is closed: nothing was read")
    }

    // MARK: The threads

    private func runThread() {
        state.withLock { $0.threads.append(pthread_self()) }
        var connection: SnapshotConnection?
        while let body = take() {
            var failure: (any Error)?
            do {
                let open = try connection ?? SnapshotConnection(file, stopped)
                connection = open
                try open.run(body)
            } catch let error as SQLiteError {
                failure = stopped.isSet ? closed() : error.asRelayError("cannot read \(file.path)")
            } catch { failure = error }
            body.finish(failure)
        }
        // Closed before `stop` returns.
        connection = nil
        state.withLock { state in
            state.threads.removeAll { $0 == pthread_self() }
            state.started -= 1
        }
        state.announce()
    }
    /// Waits for the next read; nil at the end.
    private func take() -> (any SnapshotBody)? {
        state.withLock { $0.idle += 1 }
        return state.wait { state -> (any SnapshotBody)?? in
            if state.waiting.isEmpty && !state.isEnding { return nil }
            state.idle -= 1
            return .some(state.waiting.isEmpty ? nil : state.waiting.removeFirst())
        } ?? nil
    }
}
