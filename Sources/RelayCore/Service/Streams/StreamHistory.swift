/// What a durable interface's log knew when this run began, and what it has removed since: where a subscriber goes on.
struct StreamHistory: Sendable {
    enum Finding: Equatable {
        /// Nil: nothing is in common.
        case known(CommonRun?)
        /// The log has older runs than are known here: it is to be asked.
        case unknown
    }
    /// The newest, without a hole.
    private let runs: [LogSnapshot.Run]
    private let hasOlderRuns: Bool
    private var pruned: [String: UInt64]
    /// The last sequences of names that only an earlier version of the contract had.
    let former: [String: UInt64]
    /// A sample of the runs, this one last, for subscribers to know.
    let sample: [StreamRun]
    /// The log's identity.
    let journal: UInt64
    /// This run is a mirror's, whose origin may have more of it.
    let isOpen: Bool
    /// The newest ranges that the log never had, by rising sequence.
    private var gaps: [ClosedRange<UInt64>]
    private static let mostGaps = 1_024

    /// `names` are those that this version has.
    init(_ run: LogSnapshot, names: Set<String>, isOpen: Bool = false) {
        (runs, pruned, hasOlderRuns) = (run.runs, run.pruned, run.sample != nil)
        (journal, gaps, self.isOpen) = (run.journal, run.gaps, isOpen)
        sample = run.sample ?? StreamRun.sample(of: run.runs)
        former = run.last.filter { $0.value > 0 && !names.contains($0.key) }
    }

    /// The newest run that a subscriber and the log have in common, as far as that is known without the disk.
    func common(_ question: RunQuestion) -> Finding {
        guard let newest = question.candidates.first else { return .known(nil) }
        // The first that is known decides: the others need not be looked for.
        if hasOlderRuns, !runs.contains(where: { $0.epoch == newest.epoch }) { return .unknown }
        let common = question.common { epoch in
            runs.lastIndex { $0.epoch == epoch }.map { LoggedRun(first: runs[$0].first, end: end(of: $0)) }
        }
        return common == nil && hasOlderRuns ? .unknown : .known(common)
    }
    /// Nil: the present run.
    private func end(of index: Int) -> UInt64? {
        index + 1 < runs.count ? runs[index + 1].first - min(runs[index + 1].first, 1) : nil
    }
    /// Of this run.
    var first: UInt64 { runs.last?.first ?? 1 }

    /// The oldest sequence that can still be read of these names.
    func oldest(of names: [String]) -> UInt64 {
        let removed =
            names.contains(Stream1.allNames) ? pruned.values.max() : names.compactMap { pruned[$0] }.max()
        let (oldest, isOver) = (removed ?? 0).addingReportingOverflow(1)
        return isOver ? .max : oldest
    }
    /// What `Attach` says of the log to a subscriber whose history is the log's up to `from`.
    func details(above from: UInt64) -> AttachOptions {
        let gaps = gaps.lazy.filter { $0.upperBound > from }.prefix(AttachOptions.mostGaps)
        return AttachOptions(runs: sample, journal: journal, gaps: Array(gaps), isOpen: isOpen)
    }
    mutating func skip(_ gap: ClosedRange<UInt64>) {
        gaps.append(gap)
        gaps.removeFirst(max(0, gaps.count - Self.mostGaps))
    }
    /// Of these names everything up to these sequences was removed.
    mutating func prune(_ last: [String: UInt64]) { pruned.merge(last) { max($0, $1) } }
}
