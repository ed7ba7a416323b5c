import Glibc
package import RelayCore
package import RelayJournal

/// Ends the process, as SIGKILL does, at a chosen step of a journal's or a cursor's life.
///
/// Nothing happens before there is a file at `trigger`, so that a test can choose the moment from outside.
package struct CrashPoint: Sendable {
    private let step: String
    private let trigger: String

    /// - Parameter step: the name of a `JournalStep` or a `CursorStep`. Throws `InvalidArgument` for another one.
    package init(at step: String, when trigger: String) throws(RelayError) {
        guard JournalStep(rawValue: step) != nil || CursorStep(rawValue: step) != nil else {
            let steps = JournalStep.allCases.map(\.rawValue) + CursorStep.allCases.map(\.rawValue)
            throw RelayError(
                .invalidArgument, "'\(step)' is no step; there are \(steps.joined(separator: ", "))")
        }
        (self.step, self.trigger) = (step, trigger)
    }
    /// For `EventJournal(directory:, faults:)`.
    package var journal: JournalFaults { JournalFaults(at: { reached($0.rawValue) }) }
    /// For `EventRelay(following:, cursors:, faults:)`.
    package var cursor: CursorFaults { CursorFaults { step, _ throws(RelayError) in reached(step.rawValue) } }

    private func reached(_ step: String) {
        guard step == self.step, access(trigger, F_OK) == 0 else { return }
        kill(getpid(), SIGKILL)
        // It comes at once, but for other threads that still get here.
        while true { pause() }
    }
}
