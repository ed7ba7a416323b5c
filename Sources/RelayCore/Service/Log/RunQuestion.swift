/// What a log is asked about a subscriber's runs: which is the newest one that both know.
///
/// A journal may be replaced by a copy of itself, and the copy by the original. Then each side has runs that the other
/// does not know. A run has one past only, so the newest one that both know is where the two part, in that run or at
/// its end.
package struct RunQuestion: Hashable, Sendable {
    package struct Candidate: Hashable, Sendable {
        package let epoch: UInt64
        /// The first sequence that the run must have to be the same one; nil: any.
        package let first: UInt64?
        /// Up to here the subscriber's history is that of the run.
        let limit: UInt64
    }
    /// From the newest to the oldest.
    package private(set) var candidates: [Candidate] = []

    /// - Parameters:
    ///   - epoch: the run of the subscriber's position; 0: none.
    ///   - after: the position, up to which the subscriber has everything.
    ///   - ancestry: the subscriber's runs, by rising first sequence.
    package init(epoch: UInt64, after: UInt64, ancestry: [StreamRun] = []) {
        if epoch == 0 { return }
        guard let place = ancestry.lastIndex(where: { $0.epoch == epoch }) else {
            candidates = [Candidate(epoch: epoch, first: nil, limit: after)]
            return
        }
        var limit = after
        for run in ancestry[...place].reversed() {
            // What is left out of the list only ends the run before it.
            if run.epoch != 0 { candidates.append(Candidate(epoch: run.epoch, first: run.first, limit: limit)) }
            limit = min(limit, run.first - min(run.first, 1))
        }
    }
    /// The newest run that both know; nil: there is none.
    ///
    /// - Parameter find: the run of this epoch in the log.
    package func common<Failure: Error>(
        _ find: (UInt64) throws(Failure) -> LoggedRun?
    ) throws(Failure) -> CommonRun? {
        for candidate in candidates {
            guard let run = try find(candidate.epoch), candidate.first ?? run.first == run.first else { continue }
            return CommonRun(limit: candidate.limit, end: run.end)
        }
        return nil
    }
}

/// A run in a log.
package struct LoggedRun: Hashable, Sendable {
    package let first: UInt64
    /// Its last sequence; nil: it is the present run, which goes on.
    package let end: UInt64?
    package init(first: UInt64, end: UInt64?) { (self.first, self.end) = (first, end) }
}

/// The newest run that a subscriber and a log have in common.
package struct CommonRun: Hashable, Sendable {
    let limit: UInt64
    /// Its last sequence in the log; nil: it is the present run.
    let end: UInt64?

    /// Up to where the two histories are the same for certain, in a log that has come to `head`.
    package func from(head: UInt64) -> UInt64 { min(limit, end ?? head) }
}
