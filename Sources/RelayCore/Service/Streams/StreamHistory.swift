/// What a durable interface's log knew when this run began, and what it has removed since: where a subscriber goes on.
struct StreamHistory: Sendable {
    private let runs: [LogSnapshot.Run]
    private var pruned: [String: UInt64]
    /// The last sequences of names that only an earlier version of the contract had.
    let former: [String: UInt64]

    /// `names` are those that this version has.
    init(_ run: LogSnapshot, names: Set<String>) {
        (runs, pruned) = (run.runs, run.pruned)
        former = run.last.filter { $0.value > 0 && !names.contains($0.key) }
    }

    /// Up to where the history of a subscriber that had everything up to `after`, of the run `epoch`, is that of this
    /// log, which has come to `head`. Never more than that is certain: 0 when nothing is.
    ///
    /// A journal may be replaced by a copy of itself, and the copy by the original. Then each side has runs that the
    /// other does not know. A run has one past only, so the newest one that both know is where the two part, in that
    /// run or at its end.
    ///
    /// - Parameter ancestry: the subscriber's runs, by rising first sequence.
    func from(epoch: UInt64, after: UInt64, ancestry: [StreamRun] = [], head: UInt64) -> UInt64 {
        if epoch == 0 { return 0 }
        guard let place = ancestry.lastIndex(where: { $0.epoch == epoch }) else {
            return runs.lastIndex { $0.epoch == epoch }.map { min(after, last(of: $0, head)) } ?? 0
        }
        var end = after
        for run in ancestry[...place].reversed() {
            if let index = runs.lastIndex(of: run) { return min(end, last(of: index, head)) }
            end = min(end, Self.before(run.first))
        }
        return 0
    }
    private func last(of index: Int, _ head: UInt64) -> UInt64 {
        index + 1 < runs.count ? Self.before(runs[index + 1].first) : head
    }
    /// The newest runs, this one last, for subscribers to know.
    var recent: [StreamRun] { runs.suffix(StreamRun.most) }
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
