/// What a durable interface's log knew when this run began, and what it has removed since: where a subscriber goes on.
struct LaneHistory: Sendable {
    private let runs: [LoggedRun.Run]
    private var pruned: [String: UInt64]
    /// The last sequences of names that only an earlier version of the contract had.
    let former: [String: UInt64]

    /// `names` are those that this version has.
    init(_ run: LoggedRun, names: Set<String>) {
        (runs, pruned) = (run.runs, run.pruned)
        former = run.last.filter { $0.value > 0 && !names.contains($0.key) }
    }

    /// Up to where a subscriber that had everything of the run `epoch` up to `after` has everything of this log, which has
    /// come to `head`.
    ///
    /// A run that this log does not know is none of its past, but that of a log which it is an older copy of: whatever the
    /// subscriber had of that run, and more, was given to other events. All before this run is common, as far as can be told;
    /// but never all that it had, which would tell it that its history is this one.
    func from(epoch: UInt64, after: UInt64, head: UInt64) -> UInt64 {
        guard let index = runs.lastIndex(where: { $0.epoch == epoch }) else {
            let common = runs.last.map { Self.before($0.first) } ?? 0
            return epoch == 0 ? common : min(common, Self.before(after))
        }
        return min(after, index + 1 < runs.count ? Self.before(runs[index + 1].first) : head)
    }
    private static func before(_ sequence: UInt64) -> UInt64 { sequence == 0 ? 0 : sequence - 1 }

    /// The oldest sequence that can still be read of these names.
    func oldest(of names: [String]) -> UInt64 {
        let removed =
            names.contains(Stream1.allNames) ? pruned.values.max() : names.compactMap { pruned[$0] }.max()
        let (oldest, isOver) = (removed ?? 0).addingReportingOverflow(1)
        return isOver ? .max : oldest
    }
    /// Of these names everything up to these sequences was removed.
    mutating func prune(_ last: [String: UInt64]) { pruned.merge(last) { max($0, $1) } }
}
