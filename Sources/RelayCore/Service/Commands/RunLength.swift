import Synchronization

/// How long a command takes, for the decision where it runs: whether it has proved short.
///
/// A short one runs on the service's loop, without a change of threads. Short means: as many runs in a row as are
/// required took less than `limit`. Each that does not doubles what is required, so that a command that takes long now
/// and then holds the loop ever less often.
final class RunLength: Sendable {
    /// In nanoseconds. About what a change of threads costs, several times over.
    static let limit: UInt64 = 50_000
    private static let required: ClosedRange<UInt32> = 16...65_536
    /// The runs in a row above, what is required below: one word, so that no lock is needed. A lost update is harmless.
    private let state = Atomic<UInt64>(UInt64(required.lowerBound))

    var isShort: Bool {
        let (row, required) = parts
        return row >= required
    }
    private var parts: (row: UInt32, required: UInt32) {
        let state = state.load(ordering: .relaxed)
        return (UInt32(state >> 32), UInt32(truncatingIfNeeded: state))
    }
    /// It has run once, for so many nanoseconds.
    func note(_ duration: UInt64) {
        var (row, required) = parts
        if duration < Self.limit {
            if row >= required { return }
            row += 1
        } else {
            if row >= required { required = min(required * 2, Self.required.upperBound) }
            row = 0
        }
        state.store(UInt64(row) << 32 | UInt64(required), ordering: .relaxed)
    }
}
