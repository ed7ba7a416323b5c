import Glibc
import RelayCore

/// A full check of a journal's file: on a thread and a connection of its own, which cannot write.
///
/// It reads in one transaction, so that what it compares is of one moment. Meanwhile the WAL cannot be used from the
/// front again: when that grows too long, the check gives way, and begins anew later.
final class JournalCheck: Sendable {
    enum Outcome: Sendable {
        case sound
        case damaged(String)
        /// It could not be made.
        case failed(RelayError)
        /// It was ended before its end.
        case interrupted
    }
    struct State {
        var database: Database?
        var outcome: Outcome?
        var isEnding = false
        var givesWay = false
    }
    /// For tests, too.
    let state = Monitor(State())
    private let file: JournalFile
    private let isLive: Bool
    /// How long the check waits after it gave way, in nanoseconds. Doubled each time.
    private let pause: UInt64
    private let begins: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - isLive: the journal is written meanwhile.
    ///   - begins: called first on the check's thread.
    init(
        _ file: JournalFile, isLive: Bool, pause: UInt64 = 60_000_000_000, begins: (@Sendable () -> Void)? = nil
    ) {
        (self.file, self.isLive, self.pause, self.begins) = (file, isLive, pause, begins)
    }

    /// Starts the thread, which keeps this alive. Calls back on it at the end.
    func start(_ ended: @escaping @Sendable (Outcome) -> Void = { _ in }) throws(RelayError) {
        do throws(SystemError) {
            try OwnThread.start("journal-check") {
                let outcome = self.runThread()
                ended(outcome)
                self.state.withLock { $0.outcome = outcome }
                self.state.announce()
            }
        } catch {
            throw RelayError(.unavailable, "no thread to check \(file.path): \(error)", cause: error)
        }
    }
    /// How it ended; nil as long as it runs.
    var outcome: Outcome? { state.withLock { $0.outcome } }
    var isSound: Bool { if case .sound = outcome { true } else { false } }

    /// In place of a start that failed.
    func abandon(_ error: RelayError) { state.withLock { $0.outcome = .failed(error) } }

    /// Waits for the end, or until `MonotonicClock`'s deadline: then nil.
    func wait(until deadline: UInt64) -> Outcome? { state.wait(until: deadline) { $0.outcome } }
    /// Ends the check, and returns when its connection is closed. From any thread but its own.
    func stop() {
        while true {
            let isOver = state.withLock { state in
                state.isEnding = true
                state.database?.interrupt()
                return state.outcome != nil
            }
            if isOver { return }
            state.announce()
            // Between two statements an interrupt has no effect.
            _ = wait(until: MonotonicClock.now + 10_000_000)
        }
    }
    /// Lets go of the WAL, if the check has it: to be called again until it is free.
    func giveWay() {
        state.withLock { state in
            if state.database == nil { return }
            state.givesWay = true
            state.database?.interrupt()
        }
    }

    // MARK: The thread

    private func runThread() -> Outcome {
        // It has time; 0 is the thread that calls. Without that it is no less right.
        if isLive { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
        begins?()
        var pause = pause
        while true {
            let outcome = attempt()
            let isOver = state.withLock { state in
                defer { state.givesWay = false }
                return !state.givesWay || state.isEnding
            }
            guard case .interrupted = outcome, !isOver else { return outcome }
            _ = state.wait(until: MonotonicClock.now + pause) { $0.isEnding ? true : nil }
            pause *= 2
        }
    }
    private func attempt() -> Outcome {
        defer { state.withLock { $0.database = nil } }
        let budget = StepBudget(size: file.size)
        do {
            let database = try file.connection(isLive: isLive)
            let isOver = state.withLock { state in
                if !state.isEnding { state.database = database }
                return state.isEnding
            }
            if isOver { return .interrupted }
            let fault = try budget.watch(database) {
                try database.execute("BEGIN")
                return try JournalExamination(database: database).fullContradiction { shallEnd }
            }
            if shallEnd { return .interrupted }
            return fault.map { .damaged($0) } ?? .sound
        } catch {
            if shallEnd { return .interrupted }
            if budget.isSpent { return .damaged(StepBudget.fault) }
            guard let error = error as? SQLiteError else {
                return .failed(RelayError(.internalFailure, "cannot check \(file.path): \(error)"))
            }
            return error.isContradiction
                ? .damaged("\(error)") : .failed(error.asRelayError("cannot check \(file.path)"))
        }
    }
    private var shallEnd: Bool { state.withLock { $0.isEnding || $0.givesWay } }
}
