/// Finds the first event at or after a time, as a value: asks for single events, and halves what is left.
///
/// Times need not rise: clocks are set back. It then ends at one place where they pass the wanted one. Whatever is
/// answered, it ends: each answer halves what is left, or is one of a few that only look further.
package struct TimeSearch {
    let time: Timestamp
    /// Below the place: an event before the time is here, or nothing that can be had is at or below.
    private var low: UInt64 = 0
    /// Not below the place: the next event above it is at or after the time, or there is none. Nil before the first
    /// answer.
    private var high: UInt64?
    /// What is examined: the event after it.
    private var probe: UInt64 = 0
    /// The sequence behind which to read one event.
    package private(set) var after: UInt64 = 0
    private var answers = 0
    /// Of all sequences 64 halves are left, and between two of them some pages without an event.
    private static let mostAnswers = 1_024

    package init(_ time: Timestamp) { self.time = time }

    /// - Parameters:
    ///   - event: the first event above `after`, unless there is none up to `through`.
    ///   - through: how far was looked.
    /// - Returns: the place, once that is known: everything up to it is before the time, what follows is not.
    /// - Throws: `.schemaMismatch` for answers that lead nowhere.
    package mutating func take(
        event: (sequence: UInt64, publishedAt: Timestamp)?, oldest: UInt64, through: UInt64, head: UInt64
    ) throws(RelayError) -> UInt64? {
        answers += 1
        if answers > Self.mostAnswers {
            throw RelayError(.schemaMismatch, "\(Self.mostAnswers) answers do not lead to a time")
        }
        if high == nil { (low, high) = (min(oldest > 0 ? oldest - 1 : 0, head), head) }
        guard let top = high else { return nil }
        if let event, event.sequence <= top, event.publishedAt < time {
            low = max(low, event.sequence)
        } else if event == nil, through > after, through < top {
            after = through
            return nil
        } else {
            // Nothing that is before the time stands between the two.
            high = max(low, probe)
        }
        if low >= high ?? 0 { return low }
        probe = low + ((high ?? low) - low) / 2
        after = probe
        return nil
    }
}
