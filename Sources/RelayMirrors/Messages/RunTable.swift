package import RelayCore

/// The runs of an origin, as a snapshot lists them, or as a replica knows them by the snapshots that it has taken in.
///
/// An epoch names a history: it is random, and what was committed before its run is fixed when that begins. A restored
/// journal begins another run. So the last run of a table says which history is the origin's.
package struct RunTable: Hashable, Sendable {
    /// By rising first sequence. The last one is open: the origin may have more of it.
    package private(set) var runs: [StreamRun]
    /// The epochs of runs that began before the last one, and are not of its history.
    package private(set) var undone: Set<UInt64>

    package init(_ runs: [StreamRun] = [], undone: Set<UInt64> = []) { (self.runs, self.undone) = (runs, undone) }

    package var isEmpty: Bool { runs.isEmpty }
    /// Whether a run is, or was, of the origin's history.
    package func knows(_ epoch: UInt64) -> Bool { undone.contains(epoch) || has(epoch) }
    func has(_ epoch: UInt64) -> Bool { runs.contains { $0.epoch == epoch } }
    package var epochs: Set<UInt64> { undone.union(runs.map(\.epoch)) }
    /// The run whose events come next behind a position.
    package func present(at position: UInt64) -> StreamRun? { runs.last { $0.first - 1 <= position } }
    /// The sequences that are of a run in this history; nil: none are, or the run is not in it.
    package func events(of epoch: UInt64) -> ClosedRange<UInt64>? { Self.events(of: epoch, in: runs) }
    private static func events(of epoch: UInt64, in runs: [StreamRun]) -> ClosedRange<UInt64>? {
        guard let index = runs.lastIndex(where: { $0.epoch == epoch }) else { return nil }
        let end = index + 1 < runs.count ? runs[index + 1].first - 1 : MirrorHeader.lastSequence
        return runs[index].first <= end ? runs[index].first...end : nil
    }

    /// Up to where a history with these runs is the same as one that has come to a position.
    ///
    /// - Parameters:
    ///   - epoch: the run that the position was reached in.
    ///   - ancestry: the runs that led there, that run among them; or nothing, where they are not known.
    package static func common(
        _ epoch: UInt64, _ position: UInt64, ancestry: [StreamRun], with runs: [StreamRun]
    ) -> UInt64 {
        let question = RunQuestion(epoch: epoch, after: position, ancestry: ancestry)
        let common = question.common { epoch -> LoggedRun? in
            runs.lastIndex { $0.epoch == epoch }.map { index in
                LoggedRun(
                    first: runs[index].first, end: index + 1 < runs.count ? runs[index + 1].first - 1 : nil)
            }
        }
        // The last run has no end that anybody knows.
        return common?.from(head: .max) ?? 0
    }

    /// Whether this table takes the place of another one: its last run began later than the other's.
    ///
    /// A snapshot's last run was the origin's when it was written. So all others that it names began before: one of
    /// them that ends the other table proves it to be the older one. Where neither names the last run of the other, the
    /// channel had lost one of them, and the one that it has now counts.
    private func replaces(_ other: Self) -> Bool {
        guard let mine = runs.last?.epoch, let theirs = other.runs.last?.epoch else { return !isEmpty }
        if mine == theirs { return false }
        return knows(theirs) || !other.knows(mine)
    }
    /// Whether a table would take the place of this one, which has runs that it lacks.
    package func isUndone(by other: Self) -> Bool {
        guard other.replaces(self) else { return false }
        let kept = Set(other.runs.map(\.epoch))
        return runs.contains { !kept.contains($0.epoch) }
    }
    /// Takes in the table of a snapshot. Returns up to where a replica that has come to a position stays as it is; nil:
    /// the runs are as they were.
    package mutating func learn(_ other: Self, at position: UInt64) -> UInt64? {
        guard other.replaces(self) else {
            if other.runs.last?.epoch == runs.last?.epoch { undone.formUnion(other.undone) }
            return nil
        }
        let common =
            present(at: position).map { Self.common($0.epoch, position, ancestry: runs, with: other.runs) } ?? position
        // Of a table that the other one does not name nobody knows when its runs began.
        let older = runs.last.map { other.knows($0.epoch) } ?? true ? epochs : []
        undone = older.union(other.undone).subtracting(other.runs.map(\.epoch))
        runs = other.runs
        return common
    }
}
