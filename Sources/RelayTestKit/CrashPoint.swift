import Glibc
package import RelayJournal
import RelayCore
import Synchronization

/// Ends the process, as SIGKILL does, at a step of the journal's life: `beforeCommit:3` is the third time that it gets there.
package final class CrashPoint: Sendable {
    package let step: JournalStep
    private let left: Atomic<Int>

    package init(at step: JournalStep, time: Int = 1) {
        self.step = step
        left = Atomic(max(1, time))
    }
    /// Reads `STEP` or `STEP:TIME`. Throws `InvalidArgument` for anything else.
    package convenience init(parsing text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let time = parts.count > 1 ? Int(parts[1]) : 1
        guard let step = parts.first.flatMap({ JournalStep(rawValue: String($0)) }), let time, time > 0 else {
            let steps = JournalStep.allCases.map(\.rawValue).joined(separator: ", ")
            throw RelayError(
                .invalidArgument, "'\(text)' is no crash point: give STEP or STEP:TIME; STEP is one of \(steps)")
        }
        self.init(at: step, time: time)
    }
    /// For `EventJournal(directory:, faults:)`.
    package var faults: JournalFaults {
        JournalFaults(at: { [self] step in
            guard step == self.step, left.wrappingSubtract(1, ordering: .relaxed).newValue == 0 else { return }
            kill(getpid(), SIGKILL)
            // It comes at once, but for other threads that still get here.
            while true { pause() }
        })
    }
}
